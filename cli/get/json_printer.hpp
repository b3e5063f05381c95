// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "terminal.hpp"

namespace skua::cli {

/// The style of printed JSON.
struct JsonStyle {
  bool colours = false;
  bool for_terminal = false;  ///< escapes control characters: see TerminalText
};

/// Formats JSON that arrives in pieces, with one line for each member and element.
///
/// Strings and numbers are printed as received; only white space between tokens changes. Several
/// top-level values, as in JSON Lines, are printed one after another. From the first byte that is
/// not JSON, or is nested too deeply, everything is printed as received.
///
/// RFC:       8259
class JsonPrinter final {
 public:
  static constexpr std::size_t deepest = 256;

  explicit JsonPrinter(JsonStyle style = {}) : style_(style) {}

  /// Formats the next piece and appends it to `out`.
  void append(std::string_view piece, std::string& out);
  /// Appends the rest after the last piece.
  void finish(std::string& out);

  /// Returns the number of complete top-level values. Valid after finish().
  [[nodiscard]] std::size_t value_count() const noexcept { return value_count_; }
  /// Reports whether there was nothing but values. Valid after finish().
  [[nodiscard]] bool is_well_formed() const noexcept {
    return state_ == State::After && is_object_.empty();
  }

 private:
  enum class State : std::uint8_t {
    // Between tokens: what may come next.
    Value,
    FirstElement,
    FirstMember,
    Member,
    Colon,
    After,
    // Inside a token.
    String,
    Escape,
    Hexadecimal,
    Literal,
    Sign,
    Zero,
    Integer,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
    // Not JSON.
    Rest,
  };

  bool take(char c, std::string& out);
  bool take_between(char c, std::string& out);
  bool take_after(char c, std::string& out);
  bool take_value(char c, std::string& out);
  bool take_in_string(char c, std::string& out);
  bool take_in_number(char c, std::string& out);
  [[nodiscard]] State next_of_number(char c) const noexcept;
  void begin_token(State state, std::string_view colour, std::string& out);
  void end_token(std::string& out);
  void open(bool is_object, char c, std::string& out);
  void close(char c, std::string& out);
  void break_line(std::string& out) const;
  void put(char c, std::string& out) { put(std::string_view(&c, 1), out); }
  void put(std::string_view text, std::string& out);

  JsonStyle style_;
  TerminalText shown_;
  std::vector<bool> is_object_;  // one for each open array or object
  std::string gap_;              // white space since the last token
  std::string_view literal_;     // what is still expected of it
  std::size_t value_count_ = 0;
  State state_ = State::Value;
  std::uint8_t digits_ = 0;  // still missing of \u0000
  bool is_key_ = false;
  bool is_number_whole_ = false;
};

/// Reports whether a text is one JSON value in UTF-8, at most JsonPrinter::deepest levels deep.
bool is_json(std::string_view text);

}  // namespace skua::cli
