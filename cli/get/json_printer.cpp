// SPDX-License-Identifier: MIT
// A state machine for the grammar of RFC 8259, byte by byte, with one bit per open array or object.
// A line break is written with the token after it, so that `{}` stays on one line.
#include "get/json_printer.hpp"

#include <algorithm>

#include "base/ascii.hpp"
#include "terminal.hpp"
#include "ws/utf8.hpp"

namespace skua::cli {
namespace {

using namespace colours;

constexpr std::size_t longest_gap_bytes = 65536;

constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
// Characters of a string that need no handling.
constexpr bool is_plain(char c) noexcept {
  return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20;
}

}  // namespace

void JsonPrinter::append(std::string_view piece, std::string& out) {
  while (!piece.empty() && state_ != State::Rest) {
    if (state_ == State::String) {
      const auto end = std::find_if_not(piece.begin(), piece.end(), is_plain);
      const auto size = static_cast<std::size_t>(end - piece.begin());
      put(piece.substr(0, size), out);
      piece.remove_prefix(size);
      if (piece.empty()) return;
    }
    if (take(piece.front(), out)) {
      piece.remove_prefix(1);
      continue;
    }
    const bool is_inside = state_ >= State::String;
    if (is_inside && style_.colours) out += plain;
    put(gap_, out);
    state_ = State::Rest;
  }
  put(piece, out);
}

void JsonPrinter::finish(std::string& out) {
  const bool is_number = state_ >= State::Sign && state_ <= State::ExponentDigits;
  if (is_number && is_number_whole_) end_token(out);
  const bool is_cut = state_ >= State::String && state_ != State::Rest;
  if (is_cut && style_.colours) out += plain;
  if (style_.for_terminal) shown_.finish(out);
  const bool is_untouched = state_ == State::Value && is_object_.empty();
  if (state_ != State::Rest && !is_untouched) out.push_back('\n');
}

bool JsonPrinter::take(char c, std::string& out) {
  switch (state_) {
    case State::String:
    case State::Escape:
    case State::Hexadecimal: return take_in_string(c, out);
    case State::Literal:
      if (c != literal_.front()) return false;
      put(c, out);
      literal_.remove_prefix(1);
      if (literal_.empty()) end_token(out);
      return true;
    case State::Sign:
    case State::Zero:
    case State::Integer:
    case State::Point:
    case State::Fraction:
    case State::Exponent:
    case State::ExponentSign:
    case State::ExponentDigits: return take_in_number(c, out);
    default: return take_between(c, out);
  }
}

bool JsonPrinter::take_between(char c, std::string& out) {
  if (is_blank(c)) {
    if (gap_.size() < longest_gap_bytes) gap_.push_back(c);
    return true;
  }
  bool is_taken = false;
  switch (state_) {
    case State::Colon:
      is_taken = c == ':';
      if (!is_taken) break;
      out += ": ";
      state_ = State::Value;
      is_key_ = false;
      break;
    case State::FirstMember:
      if (c == '}') {
        close(c, out);
        is_taken = true;
        break;
      }
      [[fallthrough]];
    case State::Member:
      is_taken = c == '"';
      if (!is_taken) break;
      break_line(out);
      is_key_ = true;
      begin_token(State::String, blue, out);
      out.push_back(c);
      break;
    case State::FirstElement:
      if (c == ']') {
        close(c, out);
        is_taken = true;
        break;
      }
      is_taken = take_value(c, out);
      break;
    case State::Value: is_taken = take_value(c, out); break;
    default: is_taken = take_after(c, out); break;
  }
  if (is_taken) gap_.clear();
  return is_taken;
}

// A comma, the end of the open array or object, or another top-level value.
bool JsonPrinter::take_after(char c, std::string& out) {
  if (is_object_.empty()) return take_value(c, out);
  if (c == ',') {
    out.push_back(c);
    state_ = is_object_.back() ? State::Member : State::Value;
    return true;
  }
  if (c != (is_object_.back() ? '}' : ']')) return false;
  close(c, out);
  return true;
}

bool JsonPrinter::take_value(char c, std::string& out) {
  constexpr std::string_view literals[] = {"true", "false", "null"};
  const auto literal = std::find_if(std::begin(literals), std::end(literals),
                                    [c](std::string_view word) { return word.front() == c; });
  const bool opens = c == '{' || c == '[';
  const bool is_number = c == '-' || ascii::is_digit(c);
  if (!opens && !is_number && c != '"' && literal == std::end(literals)) return false;
  if (opens && is_object_.size() == deepest) return false;
  const bool is_next = is_object_.empty() ? state_ == State::After : !is_object_.back();
  if (is_next) break_line(out);
  if (opens) {
    open(c == '{', c, out);
    return true;
  }
  if (c == '"') {
    begin_token(State::String, green, out);
  } else if (is_number) {
    begin_token(c == '-' ? State::Sign : c == '0' ? State::Zero : State::Integer, cyan, out);
    is_number_whole_ = c != '-';
  } else {
    begin_token(State::Literal, magenta, out);
    literal_ = literal->substr(1);
  }
  out.push_back(c);
  return true;
}

bool JsonPrinter::take_in_string(char c, std::string& out) {
  if (state_ == State::Hexadecimal) {
    if (!ascii::is_hex(c)) return false;
    if (--digits_ == 0) state_ = State::String;
  } else if (state_ == State::Escape) {
    constexpr std::string_view escapes = "\"\\/bfnrtu";
    if (escapes.find(c) == escapes.npos) return false;
    state_ = c == 'u' ? State::Hexadecimal : State::String;
    digits_ = 4;
  } else if (c == '\\') {
    state_ = State::Escape;
  } else if (c != '"') {
    return false;
  } else {
    put(c, out);
    end_token(out);
    return true;
  }
  put(c, out);
  return true;
}

bool JsonPrinter::take_in_number(char c, std::string& out) {
  const State next = next_of_number(c);
  if (next != State::Rest) {
    state_ = next;
    is_number_whole_ = next == State::Zero || next == State::Integer || next == State::Fraction ||
                       next == State::ExponentDigits;
    put(c, out);
    return true;
  }
  if (!is_number_whole_) return false;
  end_token(out);
  return take_between(c, out);
}

JsonPrinter::State JsonPrinter::next_of_number(char c) const noexcept {
  const bool is_e = c == 'e' || c == 'E';
  switch (state_) {
    case State::Sign:
      if (ascii::is_digit(c)) return c == '0' ? State::Zero : State::Integer;
      break;
    case State::Integer:
      if (ascii::is_digit(c)) return State::Integer;
      [[fallthrough]];
    case State::Zero:
      if (c == '.') return State::Point;
      if (is_e) return State::Exponent;
      break;
    case State::Point:
      if (ascii::is_digit(c)) return State::Fraction;
      break;
    case State::Fraction:
      if (ascii::is_digit(c)) return State::Fraction;
      if (is_e) return State::Exponent;
      break;
    case State::Exponent:
      if (c == '+' || c == '-') return State::ExponentSign;
      [[fallthrough]];
    case State::ExponentSign:
    case State::ExponentDigits:
      if (ascii::is_digit(c)) return State::ExponentDigits;
      break;
    default: break;
  }
  return State::Rest;
}

void JsonPrinter::begin_token(State state, std::string_view colour, std::string& out) {
  if (style_.colours) out += colour;
  state_ = state;
}

void JsonPrinter::end_token(std::string& out) {
  if (style_.colours) out += plain;
  state_ = is_key_ ? State::Colon : State::After;
  if (!is_key_ && is_object_.empty()) ++value_count_;
}

void JsonPrinter::open(bool is_object, char c, std::string& out) {
  out.push_back(c);
  is_object_.push_back(is_object);
  state_ = is_object ? State::FirstMember : State::FirstElement;
}

void JsonPrinter::close(char c, std::string& out) {
  const bool is_empty = state_ != State::After;
  is_object_.pop_back();
  if (!is_empty) break_line(out);
  out.push_back(c);
  state_ = State::After;
  if (is_object_.empty()) ++value_count_;
}

void JsonPrinter::break_line(std::string& out) const {
  out.push_back('\n');
  out.append(2 * is_object_.size(), ' ');
}

void JsonPrinter::put(std::string_view text, std::string& out) {
  if (style_.for_terminal) {
    shown_.append(text, out);
  } else {
    out += text;
  }
}

bool is_json(std::string_view text) {
  if (!ws::is_utf8(text)) return false;
  JsonPrinter printer;
  std::string ignored;
  printer.append(text, ignored);
  printer.finish(ignored);
  return printer.is_well_formed() && printer.value_count() == 1;
}

}  // namespace skua::cli
