// SPDX-License-Identifier: MIT
// In: the values of --header and --cache. Out: rules that are known to be valid fields.
#include "serve/site/field_rules.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.hpp"
#include "get/request_items.hpp"
#include "skua/response.hpp"

namespace skua::cli {
namespace {

constexpr std::string_view year = "31536000";  // in seconds; the longest --max-age, too

std::string cache_control(const std::string& rule) {
  if (rule == "immutable") return "max-age=" + std::string(year) + ", immutable";
  if (rule == "no-cache" || rule == "no-store") return rule;
  const bool is_number = !rule.empty() && std::ranges::all_of(rule, ascii::is_digit);
  const bool is_short = rule.size() < year.size() || (rule.size() == year.size() && rule <= year);
  if (is_number && is_short) return "max-age=" + rule;
  throw std::invalid_argument("'" + rule +
                              "' is not immutable, no-cache, no-store or a number of seconds up to "
                              "31536000");
}

}  // namespace

HeaderRule parse_header_rule(const std::string& text) {
  HeaderRule rule;
  std::string_view line = text;
  const std::size_t bracket = text.rfind(" [");
  if (bracket != text.npos && text.ends_with(']')) {
    rule.paths.emplace(text.substr(bracket + 2, text.size() - bracket - 3));
    line = line.substr(0, bracket);
  } else if (bracket != text.npos && text.find(']', bracket) == text.npos) {
    throw std::invalid_argument("'" + text + "' has a bracket that is not closed");
  }
  auto field = parse_field(line);
  if (!field) throw std::invalid_argument(field.error().text);
  std::optional<std::string>& value = field->value;
  if (!value) throw std::invalid_argument("'" + text + "' has no value");
  rule.name = std::move(field->name);
  rule.value = *std::move(value);
  Response().header(rule.name, rule.value);  // throws for a field that frames the message
  return rule;
}

CacheRule parse_cache_rule(const std::string& text) {
  const std::size_t sign = text.find('=');  // the rule has none; `?` stands for one in a path
  if (sign == text.npos) throw std::invalid_argument("'" + text + "' is not GLOB=RULE");
  return {PathGlob(text.substr(0, sign)), cache_control(text.substr(sign + 1))};
}

}  // namespace skua::cli
