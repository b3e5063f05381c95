// SPDX-License-Identifier: MIT
// In: the value of --rate. Out: the library's rate limit, by the address of the client.
#include "serve/site/rate.hpp"

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstddef>
#include <stdexcept>
#include <string_view>

#include "serve/site/site_options.hpp"

namespace skua::cli {
namespace {

constexpr std::size_t max_rate = 1'000'000;

// Returns 0 for anything but a number in the range.
std::size_t parse_count(std::string_view text) {
  std::size_t number = 0;
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = code == std::errc() && rest == text.data() + text.size();
  return is_whole && number <= max_rate ? number : 0;
}

}  // namespace

RateLimitOptions parse_rate(const std::string& text) {
  const auto refuse = [&text] {
    throw std::invalid_argument("'" + text +
                                "' is not a rate such as 10, 10/s, 600/min or 10/s:50, up to "
                                "1000000");
  };
  std::string_view rate = text;
  RateLimitOptions options{.per = 1s};
  if (const std::size_t colon = rate.find(':'); colon != rate.npos) {
    options.burst = parse_count(rate.substr(colon + 1));
    if (options.burst == 0) refuse();
    rate = rate.substr(0, colon);
  }
  if (const std::size_t slash = rate.find('/'); slash != rate.npos) {
    const std::string_view unit = rate.substr(slash + 1);
    if (unit != "s" && unit != "min") refuse();
    if (unit == "min") options.per = 1min;
    rate = rate.substr(0, slash);
  }
  options.requests = parse_count(rate);
  if (options.requests == 0) refuse();
  return options;
}

void declare_rate(CLI::App& parser, SiteOptions& options) {
  parser
      .add_option("--rate", options.rate,
                  "Answer 429 to clients that send more requests, such as 10/s, 600/min or 10/s:50 "
                  "with a burst")
      ->check([](const std::string& text) -> std::string {
        try {
          static_cast<void>(parse_rate(text));
        } catch (const std::invalid_argument& error) {
          return error.what();
        }
        return {};
      })
      ->option_text("N[/s|/min][:BURST]");
}

void add_rate(Router& router, const std::string& text, KeptRate& kept) {
  if (text != kept.text) kept = {};
  if (text.empty()) return;
  if (!kept.limit) kept = {.text = text, .limit = rate_limit(parse_rate(text))};
  router.use(*kept.limit);
}

}  // namespace skua::cli
