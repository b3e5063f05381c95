// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include "skua/config.hpp"
#include "skua/mistakes.hpp"

namespace skua {

namespace detail {

/// An error in a pattern or a prefix.
enum class PatternError : std::uint8_t {
  None,
  NoSlash,
  UnopenedBrace,
  UnclosedBrace,
  PartOfSegment,
  BadName,
  SameName,
  RestBeforeEnd,
  TooManyWildcards,
  BadCharacter,
  BadSegment,
  BadPrefix,
};

/// The result of checking a pattern.
struct PatternCheck {
  PatternError flaw = PatternError::None;
  std::size_t column = 0;     ///< of the flaw, from 1
  std::size_t wildcards = 0;  ///< valid if there is no flaw
};

constexpr std::size_t max_wildcards = 16;

constexpr bool is_name_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

constexpr std::string_view wildcard_name(std::string_view segment) noexcept {
  std::string_view name = segment.substr(1, segment.size() - 2);
  if (name.ends_with("...")) name.remove_suffix(3);
  return name;
}

// Each of these checks one segment; columns count from the segment's first character.

/// Checks one `{name}` or `{name...}`.
constexpr PatternCheck check_wildcard(std::string_view segment, bool is_last) noexcept {
  const std::size_t open = segment.find('{');
  const std::size_t close = segment.find('}');
  if (close < open) return {PatternError::UnopenedBrace, close + 1};
  if (open != 0) return {PatternError::PartOfSegment, open + 1};
  if (close == segment.npos) return {PatternError::UnclosedBrace, 1};
  if (close + 1 != segment.size()) return {PatternError::PartOfSegment, close + 2};
  if (segment.ends_with("...}") && !is_last) return {PatternError::RestBeforeEnd, 1};
  const std::string_view name = wildcard_name(segment);
  if (name.empty()) return {PatternError::BadName, 2};
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!is_name_letter(name[i])) return {PatternError::BadName, i + 2};
  }
  return {};
}

constexpr PatternCheck check_literal(std::string_view segment, bool is_last) noexcept {
  if (segment == "." || segment == ".." || (segment.empty() && !is_last)) {
    return {PatternError::BadSegment, 1};
  }
  for (std::size_t i = 0; i < segment.size(); ++i) {
    const char c = segment[i];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '}') return {PatternError::UnopenedBrace, i + 1};
    if (byte < 0x20 || byte == 0x7f || c == '?' || c == '#' || c == '%' || c == '\\') {
      return {PatternError::BadCharacter, i + 1};
    }
  }
  return {};
}

/// Checks a pattern, at compile time or at run time.
constexpr PatternCheck check_pattern(std::string_view pattern) noexcept {
  if (pattern.empty() || pattern.front() != '/') return {PatternError::NoSlash, 1};
  std::string_view names[max_wildcards];
  std::size_t count = 0;
  for (std::size_t begin = 1;;) {
    const std::size_t slash = pattern.find('/', begin);
    const bool is_last = slash == pattern.npos;
    const std::string_view segment = pattern.substr(begin, is_last ? pattern.npos : slash - begin);
    const bool is_wildcard = segment.find('{') != segment.npos;
    PatternCheck check =
        is_wildcard ? check_wildcard(segment, is_last) : check_literal(segment, is_last);
    if (is_wildcard && check.flaw == PatternError::None) {
      const std::string_view name = wildcard_name(segment);
      if (count == max_wildcards) check = {PatternError::TooManyWildcards, 1};
      for (std::size_t i = 0; i < count; ++i) {
        if (names[i] == name) check = {PatternError::SameName, 2};
      }
      if (check.flaw == PatternError::None) names[count++] = name;
    }
    if (check.flaw != PatternError::None) return {check.flaw, begin + check.column};
    if (is_last) return {PatternError::None, 0, count};
    begin = slash + 1;
  }
}

/// Checks the path that a router is mounted at.
constexpr PatternCheck check_prefix(std::string_view prefix) noexcept {
  const PatternCheck check = check_pattern(prefix);
  if (check.flaw != PatternError::None) return check;
  if (check.wildcards != 0) return {PatternError::BadPrefix, prefix.find('{') + 1};
  if (prefix.ends_with('/')) return {PatternError::BadPrefix, prefix.size()};
  return check;
}

// Called for a malformed pattern: they are not constexpr, so the compiler stops and shows the name.
inline void a_route_pattern_starts_with_a_slash() {}
inline void a_closing_brace_has_no_opening_brace_in_this_pattern() {}
inline void an_opening_brace_has_no_closing_brace_in_this_pattern() {}
inline void a_wildcard_fills_a_whole_path_segment() {}
inline void a_wildcard_has_a_name_of_letters_digits_and_underscores() {}
inline void two_wildcards_of_this_pattern_have_the_same_name() {}
inline void a_rest_wildcard_stands_at_the_end_of_the_pattern() {}
inline void a_route_pattern_has_at_most_16_wildcards() {}
inline void a_pattern_is_a_decoded_path_without_query_percent_backslash_or_control_characters() {}
inline void a_pattern_has_no_empty_segment_and_no_dot_segment() {}
inline void the_handler_takes_another_number_of_parameters_than_the_pattern_has_wildcards() {}
inline void a_mount_prefix_has_no_wildcard_and_no_slash_at_its_end() {}
inline void a_wildcard_is_written_in_braces_and_typed_by_the_parameter_of_the_handler() {}

/// Whether a pattern has a segment that is a wildcard elsewhere: `/:id`, `/<int>`, `/*`.
constexpr bool is_foreign(std::string_view pattern) noexcept {
  for (std::size_t at = 0; at + 1 < pattern.size(); ++at) {
    const char next = pattern[at + 1];
    if (pattern[at] == '/' && (next == ':' || next == '<' || next == '*')) return true;
  }
  return false;
}

/// Fails to compile if there is a flaw.
constexpr void require_valid(PatternError flaw) {
  switch (flaw) {
    case PatternError::None: return;
    case PatternError::NoSlash: a_route_pattern_starts_with_a_slash(); return;
    case PatternError::UnopenedBrace:
      a_closing_brace_has_no_opening_brace_in_this_pattern();
      return;
    case PatternError::UnclosedBrace:
      an_opening_brace_has_no_closing_brace_in_this_pattern();
      return;
    case PatternError::PartOfSegment: a_wildcard_fills_a_whole_path_segment(); return;
    case PatternError::BadName: a_wildcard_has_a_name_of_letters_digits_and_underscores(); return;
    case PatternError::SameName: two_wildcards_of_this_pattern_have_the_same_name(); return;
    case PatternError::RestBeforeEnd: a_rest_wildcard_stands_at_the_end_of_the_pattern(); return;
    case PatternError::TooManyWildcards: a_route_pattern_has_at_most_16_wildcards(); return;
    case PatternError::BadCharacter:
      a_pattern_is_a_decoded_path_without_query_percent_backslash_or_control_characters();
      return;
    case PatternError::BadSegment: a_pattern_has_no_empty_segment_and_no_dot_segment(); return;
    case PatternError::BadPrefix: a_mount_prefix_has_no_wildcard_and_no_slash_at_its_end(); return;
  }
}

}  // namespace detail

/// A pattern or a prefix that is known only at run time, for example from a configuration file. It
/// is checked on construction:
///
/// ```cpp
/// router.get(skua::RuntimePattern(config.path), handler);
/// router.mount(skua::RuntimePattern(config.prefix), std::move(other));
/// ```
/// Ends with: std::invalid_argument, whose text has the file and line of the registration, the
///            pattern, and the column of the error.
class SKUA_API RuntimePattern final {
 public:
  explicit RuntimePattern(std::string text,
                          std::source_location where = std::source_location::current());

  [[nodiscard]] std::string_view text() const noexcept SKUA_LIFETIMEBOUND { return text_; }
  /// Throws if the pattern does not fit a handler with this many path parameters.
  void require_parameters(std::size_t parameters) const;
  /// Throws if a router cannot be mounted there.
  void require_prefix() const;

 private:
  std::string text_;
  std::size_t wildcards_ = 0;
  std::source_location where_;
};

/// A route's pattern, checked at compile time: `/users/{id}`, `/files/{path...}`.
///
/// A literal segment matches itself, `{name}` one non-empty segment, and `{name...}`, at the end,
/// the rest of the path, which may be empty. If several patterns match, the first segment that
/// differs decides: a literal beats `{name}`, which beats `{name...}`.
///
/// `Parameters` is the number of path parameters of the handler; with 0 the handler may read them
/// from the request.
template <std::size_t Parameters>
class Pattern {
 public:
  template <std::size_t N>
  consteval Pattern(const char (&text)[N]) : text_(text, N - 1) {
    const detail::PatternCheck check = detail::check_pattern(text_);
    detail::require_valid(check.flaw);
    if (Parameters != check.wildcards && detail::is_foreign(text_)) {
      detail::a_wildcard_is_written_in_braces_and_typed_by_the_parameter_of_the_handler();
    }
    if (Parameters != 0 && Parameters != check.wildcards) {
      detail::the_handler_takes_another_number_of_parameters_than_the_pattern_has_wildcards();
    }
  }
  template <std::convertible_to<std::string_view> Text>
    requires(!std::is_array_v<std::remove_reference_t<Text>>)
  Pattern(const Text&) {
    static_assert(sizeof(Text) == 0,
                  "a pattern that is not a string literal needs skua::RuntimePattern(text)");
  }
  template <class Other>
    requires(!std::convertible_to<const Other&, std::string_view>)
  Pattern(const Other&) {
    static_assert(detail::never<Other>, "a route is a pattern, then its handler");
  }
  Pattern(const RuntimePattern& pattern SKUA_LIFETIMEBOUND) : text_(pattern.text()) {
    pattern.require_parameters(Parameters);
  }
  [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

 private:
  std::string_view text_;
};

/// The path that a router is mounted at: `/admin`.
class Prefix {
 public:
  template <std::size_t N>
  consteval Prefix(const char (&text)[N]) : text_(text, N - 1) {
    detail::require_valid(detail::check_prefix(text_).flaw);
  }
  template <std::convertible_to<std::string_view> Text>
    requires(!std::is_array_v<std::remove_reference_t<Text>>)
  Prefix(const Text&) {
    static_assert(sizeof(Text) == 0,
                  "a prefix that is not a string literal needs skua::RuntimePattern(text)");
  }
  template <class Other>
    requires(!std::convertible_to<const Other&, std::string_view>)
  Prefix(const Other&) {
    static_assert(detail::never<Other>, "the path comes first, then what is mounted there");
  }
  Prefix(const RuntimePattern& prefix SKUA_LIFETIMEBOUND) : text_(prefix.text()) {
    prefix.require_prefix();
  }
  [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

 private:
  std::string_view text_;
};

}  // namespace skua
