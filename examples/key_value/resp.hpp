// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// RESP2, the protocol of Redis, as a server sees it.
namespace resp {

using Words = std::vector<std::string_view>;

constexpr std::size_t max_line_bytes = 64 * 1024;
constexpr std::size_t max_word_bytes = 512 * 1024;
constexpr std::size_t max_words = 1024;

/// The client does not speak the protocol.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class Number>
std::optional<Number> parse(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Parses a length after its mark, as in `*3` and `$11`.
inline std::size_t parse_length(std::string_view line, char mark, std::size_t most) {
  const auto length = line.starts_with(mark) ? parse<std::size_t>(line.substr(1)) : std::nullopt;
  if (!length || *length > most) throw Malformed(std::string("invalid length after ") + mark);
  return *length;
}

/// Removes a line from the input; returns nullopt if its end has not arrived.
inline std::optional<std::string_view> take_line(std::string_view& input) {
  const std::size_t end = input.find('\n');
  if (std::min(end, input.size()) > max_line_bytes) throw Malformed("the line is too long");
  if (end == input.npos) return std::nullopt;
  std::string_view line = input.substr(0, end);
  input.remove_prefix(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Splits an inline command at its spaces.
inline Words split(std::string_view line) {
  Words words;
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    if (!word.empty()) words.push_back(word);
    line.remove_prefix(std::min(word.size() + 1, line.size()));
  }
  return words;
}

/// Removes a command from the input: an array of bulk strings, or an inline command. Returns
/// nullopt if it has not arrived as a whole; what is left of the input then means nothing.
inline std::optional<Words> take_command(std::string_view& input) {
  std::optional<std::string_view> line = take_line(input);
  if (!line) return std::nullopt;
  if (!line->starts_with('*')) return split(*line);
  Words words(parse_length(*line, '*', max_words));
  for (std::string_view& word : words) {
    line = take_line(input);
    if (!line) return std::nullopt;
    const std::size_t size = parse_length(*line, '$', max_word_bytes);
    if (input.size() < size + 2) return std::nullopt;
    if (input.substr(size, 2) != "\r\n") throw Malformed("a string is longer than it claims");
    word = input.substr(0, size);
    input.remove_prefix(size + 2);
  }
  return words;
}

inline std::string upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return upper;
}

inline std::string integer(long long value) { return ":" + std::to_string(value) + "\r\n"; }

inline std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

}  // namespace resp
