// SPDX-License-Identifier: MIT
// Patterns that are known only at run time: the same checks as at compile time, and an error text
// with the line of the program and the column of the pattern.

#include <charconv>
#include <cmath>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "skua/path_parameter.hpp"
#include "skua/pattern.hpp"

namespace skua {
namespace {

using detail::PatternError;

std::string_view sentence(PatternError flaw) noexcept {
  switch (flaw) {
    case PatternError::None: break;
    case PatternError::NoSlash: return "must start with a slash";
    case PatternError::UnopenedBrace: return "closing brace without an opening brace";
    case PatternError::UnclosedBrace: return "opening brace without a closing brace";
    case PatternError::PartOfSegment: return "a wildcard must fill a whole path segment";
    case PatternError::BadName:
      return "a wildcard's name must consist of letters, digits and underscores";
    case PatternError::SameName: return "another wildcard has the same name";
    case PatternError::RestBeforeEnd: return "{name...} must be the last segment";
    case PatternError::TooManyWildcards: return "more than 16 wildcards";
    case PatternError::BadCharacter:
      return "a pattern is a decoded path, without '?', '#', '%', '\\' and control characters";
    case PatternError::BadSegment: return "empty segment or dot segment";
    case PatternError::BadPrefix: return "a prefix must not have a wildcard or end with a slash";
  }
  return "";
}

[[noreturn]] void refuse_pattern(const std::source_location& where, std::string_view pattern,
                                 std::string_view why) {
  std::string text(where.file_name());
  text.append(":").append(std::to_string(where.line())).append(": the pattern \"");
  throw std::invalid_argument(text.append(pattern).append("\"").append(why));
}

void require(const std::source_location& where, std::string_view pattern,
             const detail::PatternCheck& check) {
  if (check.flaw == PatternError::None) return;
  std::string why(", column ");
  refuse_pattern(
      where, pattern,
      why.append(std::to_string(check.column)).append(": ").append(sentence(check.flaw)));
}

}  // namespace

RuntimePattern::RuntimePattern(std::string text, std::source_location where)
    : text_(std::move(text)), where_(where) {
  const detail::PatternCheck check = detail::check_pattern(text_);
  require(where_, text_, check);
  wildcards_ = check.wildcards;
}

void RuntimePattern::require_parameters(std::size_t parameters) const {
  if (parameters == 0 || parameters == wildcards_) return;
  refuse_pattern(where_, text_,
                 " has " + std::to_string(wildcards_) + " wildcard(s), but the handler takes " +
                     std::to_string(parameters) + " parameter(s)");
}

void RuntimePattern::require_prefix() const { require(where_, text_, detail::check_prefix(text_)); }

}  // namespace skua

// In: a path segment. Out: the number that it spells, or nullopt if anything else is in it.

namespace skua::detail {
namespace {

template <class T>
std::optional<T> parse(std::string_view text) noexcept {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::int64_t> parse_signed(std::string_view text) noexcept {
  return parse<std::int64_t>(text);
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) noexcept {
  return parse<std::uint64_t>(text);
}

std::optional<double> parse_double(std::string_view text) noexcept {
  const auto value = parse<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace skua::detail
