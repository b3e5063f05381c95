// SPDX-License-Identifier: MIT
#include "get_report.hpp"

#include <unistd.h>

#include <chrono>
#include <vector>

#include "progress.hpp"
#include "response_printer.hpp"
#include "timing.hpp"

namespace skua::cli {
namespace {

// The target as it was asked for, with the parameters of the command line.
std::string target_of(const GetOptions& options, const Url& url) {
  std::string target = url.request_target();
  for (const auto& [name, value] : options.items.query) {
    target += target.find('?') == target.npos ? '?' : '&';
    target +=
        percent_encode(name, PercentSet::Form) + "=" + percent_encode(value, PercentSet::Form);
  }
  return target;
}

}  // namespace

std::string complaint(std::string_view text) { return "skua: " + harmless(text) + "\n"; }

std::string heads_text(const GetOptions& options, const PreparedRequest& prepared, const Url& url,
                       const ClientResponse& response) {
  if (!options.verbose) return "";
  const bool has_colour = wants_colour(options.colour, STDERR_FILENO);
  std::string text = "> ";
  text.append(name(options.method)).append(" ").append(target_of(options, url));
  text.append(" ").append(name_of(response.version())).append("\n");
  for (const auto& [field, value] : prepared.shown_fields(url)) {
    text.append("> ").append(field).append(": ").append(harmless(value)).append("\n");
  }
  text += ">\n";
  if (response.redirects() != 0) {
    text.append("* redirected to ").append(harmless(response.url().to_string())).append("\n");
  }
  return text + head_text(response, has_colour, "< ") + "<\n";
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
  before = timings.sent.value_or(before);  // until then it waited for its turn
  add("wait", timings.head);
  add("content", timings.content);
  return waterfall(phases, terminal_columns(STDERR_FILENO));
}

}  // namespace skua::cli
