// SPDX-License-Identifier: MIT
// In: bytes in any pieces. Out: replies. A value is a head, a type and a line, which texts and
// aggregates follow with as many bytes or values as it says:
//
//     $5\r\nhello\r\n      *2\r\n:1\r\n+OK\r\n      |1\r\n+ttl\r\n:3\r\n$1\r\nx\r\n
//
// The tree is built in place: `target_` is where the next value goes, and `open_` the way to it.
// RESP3: https://redis.io/docs/latest/develop/reference/protocol-spec/
#include "resp/reply_parser.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "resp/number.hpp"

namespace skua::resp {
namespace {

constexpr std::size_t max_head_bytes = 64_KiB;
// An announced size is believed up to this much before its bytes have come.
constexpr std::size_t believed_bytes = 16_KiB;
constexpr std::size_t crlf_bytes = 2;
constexpr std::size_t format_bytes = 3;  // of a verbatim string; a colon follows

}  // namespace

bool ReplyParser::is_in_reply() const noexcept {
  return state_ == State::Text || !head_.empty() || !open_.empty() || attributes_ != nullptr;
}

redis::Reply ReplyParser::take() {
  SKUA_ASSERT(state_ == State::Complete);
  Reply reply = std::exchange(root_, Reply());
  target_ = &root_;
  attributes_ = nullptr;
  charged_ = sizeof(Reply);
  state_ = State::Head;
  return reply;
}

ReplyParser::Event ReplyParser::next(std::string_view& input) {
  while (true) {
    switch (state_) {
      case State::Head:
        if (!read_head(input) && state_ == State::Head) return Event::NeedMore;
        break;
      case State::Text:
        if (!read_text(input) && state_ == State::Text) return Event::NeedMore;
        break;
      case State::Complete: return Event::Reply;
      case State::Failed: return Event::Failed;
    }
  }
}

void ReplyParser::fail(Errc code, const char* why) noexcept {
  state_ = State::Failed;
  error_ = Error(code, why);
}

bool ReplyParser::charge(std::size_t bytes) noexcept {
  if (charged_ > limits_.reply_bytes || bytes > limits_.reply_bytes - charged_) {
    fail(Errc::MessageTooLong, "the reply is too large");
    return false;
  }
  charged_ += bytes;
  return true;
}

// Heads -------------------------------------------------------------------------------------------

/// Takes a line. Returns false if it is incomplete, or failed.
bool ReplyParser::read_head(std::string_view& input) {
  const std::size_t end = input.find('\n');
  const bool is_complete = end != std::string_view::npos;
  const std::string_view piece = input.substr(0, is_complete ? end : input.size());
  if (piece.size() > max_head_bytes - std::min(max_head_bytes, head_.size())) {
    fail(Errc::MessageTooLong, "a line is too long");
    return false;
  }
  input.remove_prefix(piece.size() + (is_complete ? 1 : 0));
  if (!is_complete || !head_.empty()) head_.append(piece);
  if (!is_complete) return false;
  const std::string kept = std::exchange(head_, std::string());
  std::string_view line = kept.empty() ? piece : std::string_view(kept);
  if (!line.ends_with('\r')) {
    fail(Errc::MalformedReply, "a line ends without CR");
    return false;
  }
  line.remove_suffix(1);
  if (line.empty() || line.find('\r') != std::string_view::npos) {
    fail(Errc::MalformedReply, line.empty() ? "a line is empty" : "a line has a CR in it");
    return false;
  }
  start(line);
  return state_ != State::Failed;
}

void ReplyParser::start(std::string_view head) {
  const std::string_view rest = head.substr(1);
  switch (head.front()) {
    case '$': return start_text(Type::BulkString, rest);
    case '!': return start_text(Type::BulkError, rest);
    case '=': return start_text(Type::VerbatimString, rest);
    case '*': return start_elements(Type::Array, rest, 1);
    case '~': return start_elements(Type::Set, rest, 1);
    case '%': return start_elements(Type::Map, rest, 2);
    case '>': return start_elements(Type::Push, rest, 1);
    case '|': return start_attributes(rest);
    default: return start_plain(head.front(), rest);
  }
}

void ReplyParser::start_plain(char type, std::string_view rest) {
  bool is_valid = true;
  if (type == '+' || type == '-') {
    target_->type_ = type == '+' ? Type::SimpleString : Type::SimpleError;
  } else if (type == ':') {
    const auto value = parse_integer(rest);
    is_valid = value.has_value();
    target_->type_ = Type::Integer;
    target_->integer_ = value.value_or(0);
  } else if (type == ',') {
    const auto value = parse_double(rest);
    is_valid = value.has_value();
    target_->type_ = Type::Double;
    target_->number_ = value.value_or(0);
  } else if (type == '#') {
    is_valid = rest == "t" || rest == "f";
    target_->type_ = Type::Boolean;
    target_->integer_ = rest == "t" ? 1 : 0;
  } else if (type == '(') {
    is_valid = is_big_number(rest);
    target_->type_ = Type::BigNumber;
  } else if (type == '_') {
    is_valid = rest.empty();
  } else {
    return fail(Errc::MalformedReply, "the type of a reply is unknown");
  }
  if (!is_valid) return fail(Errc::MalformedReply, "a value is malformed");
  if (type == '+' || type == '-' || type == '(') {
    if (!charge(rest.size())) return;
    target_->text_ = rest;
  }
  end_value();
}

/// Returns the count of a head, or nullopt after a failure.
std::optional<std::size_t> ReplyParser::read_count(std::string_view text) noexcept {
  const auto count = parse_integer(text);
  if (count && *count >= 0) return static_cast<std::size_t>(*count);
  fail(Errc::MalformedReply, "a size is malformed");
  return std::nullopt;
}

void ReplyParser::start_text(Type type, std::string_view count) {
  if (type == Type::BulkString && count == "-1") return end_value();  // RESP2
  const auto size = read_count(count);
  if (!size || !charge(*size)) return;
  if (type == Type::VerbatimString && *size <= format_bytes) {
    return fail(Errc::MalformedReply, "a verbatim string has no format");
  }
  target_->type_ = type;
  target_->text_.reserve(std::min(*size, believed_bytes));
  text_left_ = *size + crlf_bytes;
  state_ = State::Text;
}

bool ReplyParser::open(std::vector<Reply>& into, std::size_t count, Reply* owner) {
  if (open_.size() >= limits_.depth) {
    fail(Errc::MessageTooLong, "the reply is nested too deeply");
    return false;
  }
  if (count > limits_.reply_bytes / sizeof(Reply) || !charge(count * sizeof(Reply))) {
    fail(Errc::MessageTooLong, "the reply is too large");
    return false;
  }
  into.reserve(std::min(count, believed_bytes / sizeof(Reply)));
  open_.push_back({&into, count, owner});
  attributes_ = nullptr;
  target_ = &into.emplace_back();
  return true;
}

void ReplyParser::start_elements(Type type, std::string_view count, std::size_t each) {
  if (type == Type::Array && count == "-1") return end_value();  // RESP2
  const auto size = read_count(count);
  if (!size) return;
  target_->type_ = type;
  if (*size == 0) return end_value();
  if (*size > limits_.reply_bytes) return fail(Errc::MessageTooLong, "the reply is too large");
  open(target_->elements_, *size * each, nullptr);
}

/// Attributes come before the reply that they are about.
void ReplyParser::start_attributes(std::string_view count) {
  const auto size = read_count(count);
  if (!size) return;
  if (attributes_ != nullptr) return fail(Errc::MalformedReply, "a reply has attributes twice");
  if (*size > limits_.reply_bytes) return fail(Errc::MessageTooLong, "the reply is too large");
  Reply* const owner = target_;
  const auto made = std::make_shared<std::vector<Reply>>();
  owner->attributes_ = made;
  attributes_ = made.get();
  if (*size != 0) open(*made, *size * 2, owner);
}

// Texts -------------------------------------------------------------------------------------------

/// Takes bytes of a text. Returns false if it is incomplete, or failed.
bool ReplyParser::read_text(std::string_view& input) {
  if (text_left_ > crlf_bytes) {
    const std::string_view piece = input.substr(0, text_left_ - crlf_bytes);
    target_->text_.append(piece);
    text_left_ -= piece.size();
    input.remove_prefix(piece.size());
  }
  while (text_left_ != 0 && text_left_ <= crlf_bytes && !input.empty()) {
    if (input.front() != (text_left_ == crlf_bytes ? '\r' : '\n')) {
      fail(Errc::MalformedReply, "a text does not end where it should");
      return false;
    }
    --text_left_;
    input.remove_prefix(1);
  }
  if (text_left_ != 0) return false;
  state_ = State::Head;
  end_text();
  return state_ != State::Failed;
}

void ReplyParser::end_text() {
  if (target_->type_ == Type::VerbatimString) {
    if (target_->text_[format_bytes] != ':') {
      return fail(Errc::MalformedReply, "a verbatim string has no format");
    }
    std::memcpy(&target_->integer_, target_->text_.data(), format_bytes);
    target_->text_.erase(0, format_bytes + 1);
  }
  end_value();
}

// The tree ----------------------------------------------------------------------------------------

/// A value is complete: goes on with the next one, of the innermost aggregate that has one left.
void ReplyParser::end_value() {
  attributes_ = nullptr;
  while (!open_.empty()) {
    Open& innermost = open_.back();
    if (--innermost.left != 0) {
      target_ = &innermost.into->emplace_back();
      return;
    }
    Reply* const owner = innermost.owner;
    open_.pop_back();
    if (owner == nullptr) continue;
    target_ = owner;
    attributes_ = const_cast<std::vector<Reply>*>(owner->attributes_.get());
    return;
  }
  state_ = State::Complete;
}

}  // namespace skua::resp
