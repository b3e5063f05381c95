// SPDX-License-Identifier: MIT
#include "get_report.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <vector>

#include "base/ascii.hpp"
#include "progress.hpp"
#include "response_printer.hpp"
#include "timing.hpp"

namespace skua::cli {
namespace {

bool is_secret(std::string_view name) {
  constexpr std::string_view secrets[] = {"authorization", "proxy-authorization", "cookie"};
  return std::any_of(std::begin(secrets), std::end(secrets), [name](std::string_view secret) {
    return ascii::equals_ignoring_case(name, secret);
  });
}

std::string shown_request(std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const std::string_view line = next_line(lines);
    const std::string_view name = line.substr(0, line.find(':'));
    text.append("> ").append(is_secret(name) ? std::string(name) + ": ..." : harmless(line));
    text.append("\n");
  }
  return text + ">\n";
}

}  // namespace

std::string complaint(std::string_view text) { return "skua: " + harmless(text) + "\n"; }

std::string shown_head(const GetOptions& options, HeadOf of, std::string_view lines) {
  if (of == HeadOf::Request) return shown_request(lines);
  return head_text(lines, wants_colour(options.colour, STDERR_FILENO), "< ") + "<\n";
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
  return waterfall(phases, terminal_columns(STDERR_FILENO));
}

}  // namespace skua::cli
