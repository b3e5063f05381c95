// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

namespace skua {

namespace detail {

// Called where a pattern is wrong: it is not constexpr, so the compiler stops and shows its name.
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

constexpr bool is_name_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

constexpr std::string_view wildcard_name(std::string_view segment) noexcept {
  std::string_view name = segment.substr(1, segment.size() - 2);
  if (name.ends_with("...")) name.remove_suffix(3);
  return name;
}

/// Checks one `{name}` or `{name...}`.
constexpr void check_wildcard(std::string_view segment, bool is_last) {
  if (segment.front() != '{') a_wildcard_fills_a_whole_path_segment();
  const std::size_t end = segment.find('}');
  if (end == segment.npos) an_opening_brace_has_no_closing_brace_in_this_pattern();
  if (end + 1 != segment.size()) a_wildcard_fills_a_whole_path_segment();
  if (segment.ends_with("...}") && !is_last) a_rest_wildcard_stands_at_the_end_of_the_pattern();
  const std::string_view name = wildcard_name(segment);
  if (name.empty()) a_wildcard_has_a_name_of_letters_digits_and_underscores();
  for (const char c : name) {
    if (!is_name_letter(c)) a_wildcard_has_a_name_of_letters_digits_and_underscores();
  }
}

constexpr void check_literal(std::string_view segment, bool is_last) {
  if (segment.find('}') != segment.npos) a_closing_brace_has_no_opening_brace_in_this_pattern();
  if (segment == "." || segment == ".." || (segment.empty() && !is_last)) {
    a_pattern_has_no_empty_segment_and_no_dot_segment();
  }
  for (const char c : segment) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || c == '?' || c == '#' || c == '%' || c == '\\') {
      a_pattern_is_a_decoded_path_without_query_percent_backslash_or_control_characters();
    }
  }
}

/// Checks a pattern; returns how many wildcards it has.
constexpr std::size_t check_pattern(std::string_view pattern) {
  if (pattern.empty() || pattern.front() != '/') a_route_pattern_starts_with_a_slash();
  std::string_view names[16];
  std::size_t count = 0;
  for (std::string_view rest = pattern.substr(1);;) {
    const std::size_t slash = rest.find('/');
    const bool is_last = slash == rest.npos;
    const std::string_view segment = rest.substr(0, slash);
    if (segment.find('{') == segment.npos) {
      check_literal(segment, is_last);
    } else {
      check_wildcard(segment, is_last);
      if (count == 16) a_route_pattern_has_at_most_16_wildcards();
      for (std::size_t i = 0; i < count; ++i) {
        if (names[i] == wildcard_name(segment)) two_wildcards_of_this_pattern_have_the_same_name();
      }
      names[count++] = wildcard_name(segment);
    }
    if (is_last) return count;
    rest.remove_prefix(slash + 1);
  }
}

}  // namespace detail

/// A route's pattern, checked when the program is compiled: `/users/{id}`, `/files/{path...}`.
///
/// A literal segment matches itself; `{name}` one segment that is not empty; `{name...}`, at the
/// end, all that remains, also nothing. Where several patterns match, the first segment that
/// differs decides: a literal comes before `{name}`, which comes before `{name...}`.
///
/// `Parameters` is how many path parameters the handler takes; with 0 it may take them from the
/// request.
template <std::size_t Parameters>
class Pattern {
 public:
  template <std::size_t N>
  consteval Pattern(const char (&text)[N]) : text_(text, N - 1) {
    const std::size_t wildcards = detail::check_pattern(text_);
    if (Parameters != 0 && Parameters != wildcards) {
      detail::the_handler_takes_another_number_of_parameters_than_the_pattern_has_wildcards();
    }
  }
  [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

 private:
  std::string_view text_;
};

/// Where a router is mounted: `/admin`.
class Prefix {
 public:
  template <std::size_t N>
  consteval Prefix(const char (&text)[N]) : text_(text, N - 1) {
    if (detail::check_pattern(text_) != 0 || text_.ends_with('/')) {
      detail::a_mount_prefix_has_no_wildcard_and_no_slash_at_its_end();
    }
  }
  [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

 private:
  std::string_view text_;
};

}  // namespace skua
