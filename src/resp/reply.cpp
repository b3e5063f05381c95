// SPDX-License-Identifier: MIT
// In: replies as parsed. Out: their values as C++ types; nullopt instead of a guess.
#include "skua/redis_reply.hpp"

#include "resp/number.hpp"

namespace skua::redis {
namespace {

bool is_string(ReplyType type) noexcept {
  return type == ReplyType::SimpleString || type == ReplyType::BulkString ||
         type == ReplyType::VerbatimString;
}

void write_quoted(std::string& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.append({'\\', c});
    } else if (c == '\r' || c == '\n') {
      out.append({'\\', c == '\r' ? 'r' : 'n'});
    } else if (byte < 0x20 || byte >= 0x7f) {
      out.append({'\\', 'x', digits[byte >> 4U], digits[byte & 15U]});
    } else {
      out += c;
    }
  }
  out += '"';
}

// Comes before the elements, or the text, of each type.
std::string_view prefix_of(ReplyType type) noexcept {
  switch (type) {
    case ReplyType::SimpleError:
    case ReplyType::BulkError: return "error ";
    case ReplyType::BigNumber: return "big ";
    case ReplyType::Set: return "set ";
    case ReplyType::Push: return "push ";
    default: return "";
  }
}

}  // namespace

std::optional<std::string_view> Reply::string() const noexcept {
  if (!is_string(type_)) return std::nullopt;
  return text();
}

std::string_view Reply::error_code() const noexcept {
  if (!is_error()) return {};
  return text().substr(0, text().find(' '));
}

std::string_view Reply::format() const noexcept {
  // The parser keeps the three bytes of the format in integer_.
  if (type_ != ReplyType::VerbatimString) return {};
  return {reinterpret_cast<const char*>(&integer_), 3};
}

std::optional<std::int64_t> Reply::integer() const noexcept {
  if (type_ == ReplyType::Integer) return integer_;
  if (is_string(type_)) return resp::parse_integer(text());
  return std::nullopt;
}

std::optional<double> Reply::number() const noexcept {
  if (type_ == ReplyType::Double) return number_;
  if (type_ == ReplyType::Integer) return static_cast<double>(integer_);
  if (is_string(type_)) return resp::parse_double(text());
  return std::nullopt;
}

std::optional<bool> Reply::boolean() const noexcept {
  const bool is_digit = type_ == ReplyType::Integer && (integer_ == 0 || integer_ == 1);
  if (type_ != ReplyType::Boolean && !is_digit) return std::nullopt;
  return integer_ != 0;
}

const Reply& Reply::operator[](std::size_t index) const noexcept {
  static const Reply none;
  return index < elements_.size() ? elements_[index] : none;
}

const Reply* Reply::find(std::string_view key) const noexcept {
  if (type_ != ReplyType::Map && type_ != ReplyType::Array) return nullptr;
  for (std::size_t i = 0; i + 1 < elements_.size(); i += 2) {
    if (elements_[i].string() == key) return &elements_[i + 1];
  }
  return nullptr;
}

std::span<const Reply> Reply::attributes() const noexcept {
  if (attributes_ == nullptr) return {};
  return *attributes_;
}

std::string Reply::to_string() const {
  std::string out;
  write(out);
  return out;
}

void Reply::write(std::string& out) const {
  out += prefix_of(type_);
  switch (type_) {
    case ReplyType::Null: out += "null"; return;
    case ReplyType::Boolean: out += integer_ != 0 ? "true" : "false"; return;
    case ReplyType::Integer: out += std::to_string(integer_); return;
    case ReplyType::Double: out += resp::double_text(number_); return;
    case ReplyType::BigNumber: out += text_; return;
    case ReplyType::SimpleString:
    case ReplyType::SimpleError:
    case ReplyType::BulkString:
    case ReplyType::BulkError: write_quoted(out, text_); return;
    case ReplyType::VerbatimString:
      out += format();
      out += ' ';
      write_quoted(out, text_);
      return;
    case ReplyType::Array:
    case ReplyType::Map:
    case ReplyType::Set:
    case ReplyType::Push: break;
  }
  const bool is_map = type_ == ReplyType::Map;
  out += is_map ? '{' : '[';
  for (std::size_t i = 0; i < elements_.size(); ++i) {
    if (i != 0) out += is_map && i % 2 == 1 ? ": " : ", ";
    elements_[i].write(out);
  }
  out += is_map ? '}' : ']';
}

}  // namespace skua::redis
