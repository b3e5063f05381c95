// SPDX-License-Identifier: MIT
// In: a tally. Out: a text for people.
#include "bench/report.hpp"

#include <cmath>
#include <cstdio>

#include "base/text/number_text.hpp"
#include "terminal.hpp"

namespace skua::cli::bench {
namespace {

constexpr double saturated_share = 0.9;

// The share of a rate that counts as having reached it.
constexpr double reached_share = 0.95;
// Shorter tests say nothing about a rate.
constexpr Duration shortest_rated = 500ms;
constexpr std::size_t name_columns = 12;

std::string grouped(std::uint64_t number) { return bench::grouped(static_cast<double>(number)); }

// Formats three digits and a unit: `412 us`, `1.23 ms`.
std::string short_text(double number, const char* const (&units)[4], double step) {
  std::size_t unit = 0;
  while (number >= step * 0.9995 && unit < 3) {
    number /= step;
    ++unit;
  }
  const int decimals = number >= 99.95 || (unit == 0 && number == std::floor(number)) ? 0
                       : number >= 9.995                                              ? 1
                                                                                      : 2;
  return base::fixed_text(number, decimals) + " " + units[unit];
}

std::string time_text(Duration duration) {
  static constexpr const char* units[4] = {"ns", "us", "ms", "s"};
  return short_text(static_cast<double>(duration.count()), units, 1000);
}

std::string bytes_text(double bytes) {
  static constexpr const char* units[4] = {"B", "kB", "MB", "GB"};
  return short_text(bytes, units, 1000);
}

std::string line(const char* name, const std::string& text) {
  std::string out = "  ";
  out.append(name).append(name_columns - std::string_view(name).size(), ' ');
  return out + text + "\n";
}

std::string cell(const std::string& text) {
  return std::string(text.size() < 8 ? 8 - text.size() : 1, ' ') + text;
}

std::string latency_row(const base::Histogram& histogram) {
  std::string row;
  for (const Duration one : {histogram.min(), histogram.percentile(50), histogram.percentile(90),
                             histogram.percentile(99), histogram.percentile(99.9), histogram.max(),
                             histogram.mean(), histogram.deviation()}) {
    row += cell(time_text(one));
  }
  return row;
}

std::string latencies(const Plan& plan, const Tally& tally) {
  std::string head;
  for (const char* name : {"min", "p50", "p90", "p99", "p99.9", "max", "mean", "stdev"}) {
    head += cell(name);
  }
  const std::string out = line("", head);
  if (!plan.rate) return out + line("latency", latency_row(tally.latency));
  return out + line("since due", latency_row(tally.latency)) +
         line("since sent", latency_row(tally.uncorrected));
}

std::string statuses(const Tally& tally) {
  std::string out;
  const auto add = [&out](const std::string& name, std::uint64_t count) {
    if (count == 0) return;
    out.append(out.empty() ? "" : ", ").append(grouped(count)).append(" x ").append(name);
  };
  for (std::size_t i = 0; i < tally.codes.size(); ++i) {
    add(std::to_string(100 + i), tally.codes[i]);
  }
  add("other", tally.other_statuses);
  return out.empty() ? "none" : out;
}

std::string errors(const Tally& tally) {
  std::string out;
  for (std::size_t i = 0; i < failure_count; ++i) {
    if (tally.failed[i] == 0) continue;
    out.append(out.empty() ? "" : std::string(name_columns + 2, ' '));
    out.append(grouped(tally.failed[i])).append(" x ");
    out.append(name_of(static_cast<Failure>(i))).append(": ").append(harmless(tally.reasons[i]));
    out += '\n';
  }
  if (out.empty()) return "none";
  out.pop_back();
  return out;
}

std::string title(const Plan& plan, const Tally& tally) {
  const auto counted = [](std::size_t count, const char* what) {
    return grouped(std::uint64_t{count}) + " " + what + (count == 1 ? "" : "s");
  };
  std::string out = harmless(plan.shown_url) + "\n" + counted(plan.connections, "connection") +
                    ", " + counted(plan.threads, "thread");
  if (plan.depth > 1) out += ", " + counted(plan.depth, "request") + " in flight on each";
  if (plan.rate) out += ", " + bench::grouped(*plan.rate) + " requests/s due";
  if (tally.elapsed > Duration(0)) out += ", " + time_text(tally.elapsed);
  return out + "\n\n";
}

}  // namespace

std::string grouped(double number) {
  std::string text = base::fixed_text(number, 0);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ' ');
  return text;
}

bool is_rate_reached(const Plan& plan, const Tally& tally) noexcept {
  if (!plan.rate || tally.elapsed < shortest_rated) return true;
  const std::uint64_t sent = tally.answers + tally.failures;
  if (static_cast<double>(sent) < reached_share * static_cast<double>(sent + tally.missed)) {
    return false;
  }
  return !plan.requests || tally.per_second(sent) >= reached_share * *plan.rate;
}

bool is_saturated(const Tally& tally) noexcept {
  return tally.answers != 0 && tally.busiest > saturated_share;
}

std::string text_report(const Plan& plan, const Tally& tally) {
  std::string out = title(plan, tally);
  out += line("requests", grouped(tally.per_second(tally.answers)) + "/s, " +
                              grouped(tally.answers.value()) + " answered");
  out += line("bytes", bytes_text(tally.per_second(tally.bytes_received)) + "/s received, " +
                           bytes_text(tally.per_second(tally.bytes_sent)) + "/s sent");
  if (tally.answers != 0) out += latencies(plan, tally);
  out += line("statuses", statuses(tally));
  out += line("errors", errors(tally));
  if (tally.missed != 0) out += line("not sent", grouped(tally.missed) + " requests");
  out += line("connections", grouped(tally.connections) + " opened, " + grouped(tally.reconnects) +
                                 " reconnected");
  if (tally.answers != 0) {
    const auto each = Duration(static_cast<Duration::rep>(
        static_cast<double>(tally.cpu.count()) / static_cast<double>(tally.answers.value())));
    out += line("generator", time_text(each) + " of CPU time per request, busiest thread at " +
                                 base::fixed_text(tally.busiest * 100, 0) + " %");
  }
  return out;
}

}  // namespace skua::cli::bench
