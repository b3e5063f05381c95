// SPDX-License-Identifier: MIT
// In: families and samples. Out: lines. The idea: both formats are written by one function, because
// only the names of counters, the type of an info and the last line differ.
//
// https://github.com/prometheus/docs/blob/main/docs/specs/om/open_metrics_spec.md
#include "skua/metrics.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/ascii.hpp"

namespace skua {
namespace {

constexpr double no_bound = -1;  // of a sample that is not a bucket

bool is_name(std::string_view text, bool may_have_colons) noexcept {
  const auto is_letter = [=](char c) {
    return ascii::is_alpha(c) || c == '_' || (may_have_colons && c == ':');
  };
  return !text.empty() && is_letter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || ascii::is_digit(c); });
}

void append_escaped(std::string& out, std::string_view text, bool is_quoted) {
  for (const char c : text) {
    if (c == '\\') {
      out.append("\\\\");
    } else if (c == '\n') {
      out.append("\\n");
    } else if (c == '"' && is_quoted) {
      out.append("\\\"");
    } else {
      out += c;
    }
  }
}

void append_label(std::string& out, std::string_view name, std::string_view value) {
  if (!is_name(name, false)) {
    throw std::invalid_argument("a metric cannot have a label '" + std::string(name) + "'");
  }
  out.append(out.back() == '{' ? "" : ",").append(name).append("=\"");
  append_escaped(out, value, true);
  out += '"';
}

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Inf" : "+Inf";
  std::array<char, 64> digits;
  const double size = std::abs(value);
  const bool is_usual = size == 0 || (size >= 1e-6 && size < 1e15);
  const auto form = is_usual ? std::chars_format::fixed : std::chars_format::general;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, form).ptr;
  return {digits.data(), end};
}

std::string_view type_name(MetricType type, MetricsFormat format) noexcept {
  switch (type) {
    case MetricType::Counter: return "counter";
    case MetricType::Gauge: return "gauge";
    case MetricType::Histogram: return "histogram";
    case MetricType::Info: return format == MetricsFormat::OpenMetrics ? "info" : "gauge";
  }
  return "unknown";
}

}  // namespace

std::string_view MetricsText::suffix() const noexcept {
  if (type_ == MetricType::Counter) return "_total";
  return type_ == MetricType::Info ? "_info" : "";
}

void MetricsText::family(std::string_view name, MetricType type, std::string_view help) {
  if (!is_name(name, true)) {
    throw std::invalid_argument("a metric cannot be named '" + std::string(name) + "'");
  }
  name_ = name;
  type_ = type;
  std::string told = name_;
  if (format_ == MetricsFormat::Prometheus) told += suffix();
  text_.append("# HELP ").append(told).append(" ");
  append_escaped(text_, help, format_ == MetricsFormat::OpenMetrics);
  text_.append("\n# TYPE ").append(told).append(" ").append(type_name(type, format_)) += '\n';
}

// A bucket has a bound.
void MetricsText::add_name(std::string_view suffix, std::span<const MetricLabel> labels,
                           double bound) {
  text_.append(name_).append(suffix);
  if (labels.empty() && bound == no_bound) return void(text_ += ' ');
  text_ += '{';
  for (const MetricLabel& label : labels) append_label(text_, label.name, label.value);
  if (bound != no_bound) append_label(text_, "le", number_text(bound));
  text_.append("} ");
}

void MetricsText::add_count(std::span<const MetricLabel> labels, std::uint64_t value) {
  add_name(suffix(), labels, no_bound);
  text_.append(std::to_string(value)) += '\n';
}

void MetricsText::add_number(std::span<const MetricLabel> labels, double value) {
  add_name(suffix(), labels, no_bound);
  text_.append(number_text(value)) += '\n';
}

void MetricsText::histogram(std::initializer_list<MetricLabel> labels,
                            std::span<const double> bounds, std::span<const std::uint64_t> counts,
                            double sum) {
  if (counts.size() != bounds.size() + 1) {
    throw std::invalid_argument("a histogram has a count for each bound, and one for the rest");
  }
  const std::span<const MetricLabel> all(labels.begin(), labels.size());
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    count += counts[i];
    const bool is_last = i == bounds.size();
    add_name("_bucket", all, is_last ? std::numeric_limits<double>::infinity() : bounds[i]);
    text_.append(std::to_string(count)) += '\n';
  }
  add_name("_sum", all, no_bound);
  text_.append(number_text(sum)) += '\n';
  add_name("_count", all, no_bound);
  text_.append(std::to_string(count)) += '\n';
}

std::string MetricsText::take() {
  if (format_ == MetricsFormat::OpenMetrics) text_.append("# EOF\n");
  return std::move(text_);
}

}  // namespace skua
