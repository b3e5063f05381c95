// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "terminal_text.hpp"

namespace skua::cli {

/// How JSON is to look.
struct JsonStyle {
  bool colours = false;
  bool for_terminal = false;  ///< nothing in it commands a terminal: see TerminalText
};

/// Lays JSON out, one line for each member and element, while it comes in pieces.
///
/// Strings and numbers go out as they came, whatever they hold; only the blanks between tokens are
/// changed. Several values behind each other, as lines of JSON, are one after the other too. From
/// the first byte on that cannot be JSON, and where it is nested too deep, all goes out as it came.
///
/// RFC:       8259
class JsonPrinter final {
 public:
  static constexpr std::size_t deepest = 256;

  explicit JsonPrinter(JsonStyle style = {}) : style_(style) {}

  /// Appends what is to be printed of the next piece.
  void append(std::string_view piece, std::string& out);
  /// Appends what is left to print at the end.
  void finish(std::string& out);

  /// How many whole values there were. After finish().
  [[nodiscard]] std::size_t value_count() const noexcept { return value_count_; }
  /// Whether there was nothing else. After finish().
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
    // Inside of one.
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
    // What is no JSON.
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
  std::vector<bool> is_object_;  // one for each that is open
  std::string gap_;              // blanks since the last token
  std::string_view literal_;     // what is missing of it
  std::size_t value_count_ = 0;
  State state_ = State::Value;
  std::uint8_t digits_ = 0;  // that are missing of \u0000
  bool is_key_ = false;
  bool is_number_whole_ = false;
};

/// Whether a text is one JSON value in UTF-8, nested no deeper than JsonPrinter::deepest.
bool is_json(std::string_view text);

}  // namespace skua::cli
