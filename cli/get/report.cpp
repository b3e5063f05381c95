// SPDX-License-Identifier: MIT
// In: phases. Out: a waterfall chart as text.
#include "get/report.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <vector>

#include "base/ascii.hpp"
#include "base/text/number_text.hpp"
#include "get/response_printer.hpp"
#include "progress.hpp"
#include "system.hpp"

namespace skua::cli {
namespace {

bool is_secret(std::string_view name) {
  constexpr std::string_view secrets[] = {"authorization", "proxy-authorization", "cookie"};
  return std::any_of(std::begin(secrets), std::end(secrets), [name](std::string_view secret) {
    return ascii::equals_ignoring_case(name, secret);
  });
}

std::string shown_request(std::string_view lines, bool shows_secrets) {
  std::string text;
  while (!lines.empty()) {
    const std::string_view line = next_line(lines);
    const std::string_view name = line.substr(0, line.find(':'));
    const bool is_hidden = !shows_secrets && is_secret(name);
    text.append("> ").append(is_hidden ? std::string(name) + ": ..." : harmless(line));
    text.append("\n");
  }
  return text + ">\n";
}

// Hides the values of cookies, but not their names and attributes.
std::string without_cookies(std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const std::string_view line = next_line(lines);
    const std::size_t colon = std::min(line.find(':'), line.size());
    if (ascii::equals_ignoring_case(line.substr(0, colon), "set-cookie")) {
      const std::size_t end = std::min(line.find(';'), line.size());
      const std::size_t mark = std::min(line.find('='), end);
      text.append(line.substr(0, mark == end ? std::min(colon + 2, end) : mark + 1));
      text.append("...").append(line.substr(end));
    } else {
      text.append(line);
    }
    text.append("\r\n");
  }
  return text;
}

}  // namespace

std::string complaint(std::string_view text) { return "skua: " + harmless(text) + "\n"; }

std::string answered(const Url& url, const ClientResponse& response) {
  const Status status = response.status();
  const std::string_view words = reason(status);
  std::string text = url.to_string() + ": the server answered ";
  text.append(std::to_string(static_cast<unsigned>(status)));
  if (!words.empty()) text.append(" ").append(words);
  return text;
}

int failure_code(const GetOptions& options, Status status) noexcept {
  const bool is_meant = options.fail && static_cast<unsigned>(status) >= options.fails_from;
  return is_meant ? exit_code_of(status) : succeeded;
}

std::optional<Problem> refused_redirect(const GetOptions& options, const ClientResponse& response) {
  const unsigned status = static_cast<unsigned>(response.status());
  const bool is_redirect = status / 100 == 3 && status != 304 && response.header("location");
  if (!options.refuses_redirects || !is_redirect) return std::nullopt;
  return Problem{.error = Errc::TooManyRedirects,
                 .text = answered(response.url(), response) + ", and no redirect may be followed"};
}

std::string shown_head(const GetOptions& options, HeadOf of, std::string_view lines) {
  if (of == HeadOf::Request) return shown_request(lines, options.shows_secrets);
  const std::string shown = options.shows_secrets ? std::string(lines) : without_cookies(lines);
  return head_text(shown, wants_colour(options.colour, standard_error), "< ") + "<\n";
}

std::string timing_text(const GetOptions& options, const ClientResponse& response) {
  if (!options.timing) return "";
  const ClientTimings& timings = response.timings();
  std::vector<Phase> phases;
  Duration before{};
  const auto add = [&phases, &before](std::string_view name, const std::optional<Duration>& end) {
    if (!end) return;
    phases.push_back({name, before, *end});
    before = *end;
  };
  add("resolve", timings.resolved);
  add("connect", timings.connected);
  add("TLS", timings.secured);
  before = timings.sent.value_or(before);  // until then the request was queued
  add("wait", timings.head);
  add("content", timings.content);
  return waterfall(phases, terminal_columns(standard_error));
}

namespace {

constexpr std::size_t widest_picture = 60;

std::string row(std::string_view name, std::size_t name_columns, std::chrono::nanoseconds time) {
  std::string text(name);
  text.append(name_columns + 2 - name.size(), ' ');
  const std::string value = milliseconds_text(time);
  return text.append(10 - std::min<std::size_t>(10, value.size()), ' ').append(value);
}

}  // namespace

std::string milliseconds_text(std::chrono::nanoseconds time) {
  double value = std::chrono::duration<double, std::milli>(time).count();
  const bool is_long = value >= 999.5;
  if (is_long) value /= 1000;
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return base::fixed_text(value, decimals) + (is_long ? " s" : " ms");
}

std::string waterfall(std::span<const Phase> phases, std::size_t columns) {
  std::chrono::nanoseconds total{};
  std::size_t name_columns = std::string_view("total").size();
  for (const Phase& phase : phases) {
    total = std::max(total, phase.end);
    name_columns = std::max(name_columns, phase.name.size());
  }
  const std::size_t used = name_columns + 14;
  const std::size_t room = std::min(widest_picture, columns > used ? columns - used : 0);
  const auto column_of = [room, total](std::chrono::nanoseconds time) {
    if (total.count() == 0) return std::size_t{0};
    const double share = static_cast<double>(time.count()) / static_cast<double>(total.count());
    return std::min(room, static_cast<std::size_t>(std::lround(share * static_cast<double>(room))));
  };
  std::string out;
  for (const Phase& phase : phases) {
    if (phase.end.count() == 0) continue;
    out += row(phase.name, name_columns, phase.end - phase.begin);
    if (room != 0) {
      const std::size_t from = std::min(column_of(phase.begin), room - 1);
      const std::size_t to = std::max(column_of(phase.end), from + 1);
      out.append(2 + from, ' ').append(to - from, '=');
    }
    out += '\n';
  }
  return out + row("total", name_columns, total) + "\n";
}

}  // namespace skua::cli
