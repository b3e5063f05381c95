// SPDX-License-Identifier: MIT
// In: a tally. Out: JSON.
#include "bench/report.hpp"

#include <algorithm>

#include "base/text/number_text.hpp"
#include "files/listing/escape.hpp"

namespace skua::cli::bench {
namespace {

std::string number(double value) { return base::fixed_text(value, 3); }

/// A JSON object, built member by member.
class Object {
 public:
  Object& raw(std::string_view name, const std::string& json) {
    out_ += out_.empty() ? "{" : ",";
    files::append_json(out_, name);
    out_ += ":" + json;
    return *this;
  }
  Object& add(std::string_view name, double value) { return raw(name, number(value)); }
  Object& add(std::string_view name, std::uint64_t value) {
    return raw(name, std::to_string(value));
  }
  Object& add(std::string_view name, Duration value) {
    return add(name, std::chrono::duration<double, std::micro>(value).count());
  }
  Object& add(std::string_view name, bool value) { return raw(name, value ? "true" : "false"); }
  Object& text(std::string_view name, std::string_view value) {
    std::string json;
    files::append_json(json, value);
    return raw(name, json);
  }
  [[nodiscard]] std::string json() const { return out_.empty() ? "{}" : out_ + "}"; }

 private:
  std::string out_;
};

// Without a response there is no latency.
std::string latency(const Tally& tally, const base::Histogram& histogram) {
  if (tally.answers == 0) return "null";
  return Object()
      .add("min", histogram.min())
      .add("p50", histogram.percentile(50))
      .add("p90", histogram.percentile(90))
      .add("p99", histogram.percentile(99))
      .add("p99_9", histogram.percentile(99.9))
      .add("p99_99", histogram.percentile(99.99))
      .add("max", histogram.max())
      .add("mean", histogram.mean())
      .add("stdev", histogram.deviation())
      .json();
}

std::string statuses_json(const Tally& tally) {
  Object object;
  for (std::size_t i = 1; i <= 5; ++i) object.add(std::to_string(i) + "xx", tally.of_class(i));
  return object.add("other", tally.other_statuses).json();
}

std::string status_codes(const Tally& tally) {
  Object object;
  for (std::size_t i = 0; i < tally.codes.size(); ++i) {
    if (tally.codes[i] != 0) object.add(std::to_string(100 + i), tally.codes[i]);
  }
  return object.json();
}

std::string errors_json(const Tally& tally) {
  Object object;
  for (std::size_t i = 0; i < failure_count; ++i) {
    object.add(name_of(static_cast<Failure>(i)), tally.failed[i]);
  }
  return object.json();
}

std::string reasons(const Tally& tally) {
  Object object;
  for (std::size_t i = 0; i < failure_count; ++i) {
    if (tally.failed[i] != 0) object.text(name_of(static_cast<Failure>(i)), tally.reasons[i]);
  }
  return object.json();
}

std::string load(const Plan& plan) {
  Object object;
  object.add("connections", std::uint64_t{plan.connections})
      .add("threads", std::uint64_t{plan.threads})
      .add("depth", std::uint64_t{plan.depth});
  if (plan.requests) object.add("requests", *plan.requests);
  if (!plan.requests) object.add("duration_us", plan.duration);
  if (plan.rate) object.add("rate", *plan.rate);
  return object.add("warmup_us", plan.warmup).json();
}

}  // namespace

std::string json_report(const Plan& plan, const Tally& tally) {
  const double cpu = std::chrono::duration<double, std::micro>(tally.cpu).count();
  const auto answers = static_cast<double>(std::max<std::uint64_t>(tally.answers, 1));
  Object object;
  object.text("url", plan.shown_url)
      .raw("load", load(plan))
      .add("elapsed_us", tally.elapsed)
      .add("answers", tally.answers.value())
      .add("answers_per_second", tally.per_second(tally.answers))
      .add("bytes_received", tally.bytes_received)
      .add("bytes_received_per_second", tally.per_second(tally.bytes_received))
      .add("bytes_sent", tally.bytes_sent)
      .raw("latency_us", latency(tally, tally.latency));
  if (plan.rate) object.raw("uncorrected_latency_us", latency(tally, tally.uncorrected));
  object.raw("statuses", statuses_json(tally))
      .raw("status_codes", status_codes(tally))
      .add("failures", tally.failures.value())
      .raw("errors", errors_json(tally))
      .raw("first_errors", reasons(tally))
      .add("not_sent", tally.missed)
      .add("warmup_answers", tally.warmup_answers)
      .add("connections_made", tally.connections)
      .add("reconnects", tally.reconnects)
      .add("cpu_us", cpu)
      .add("cpu_us_per_answer", cpu / answers)
      .add("busiest_thread", tally.busiest)
      .add("is_saturated", is_saturated(tally))
      .add("rate_was_reached", is_rate_reached(plan, tally));
  return object.json() + "\n";
}

}  // namespace skua::cli::bench
