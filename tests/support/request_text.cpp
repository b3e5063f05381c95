// SPDX-License-Identifier: MIT
#include "support/request_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>

namespace skua::testing {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return out;
}

std::size_t number(std::string_view text, int base) {
  std::size_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, base);
  EXPECT_EQ(read.ec, std::errc()) << "not a number: " << text;
  return value;
}

std::pair<std::string, std::string> field_of(std::string_view line) {
  const std::size_t colon = line.find(':');
  EXPECT_NE(colon, line.npos) << "not a field: " << line;
  std::string_view value = line.substr(colon + 1);
  while (value.starts_with(' ')) value.remove_prefix(1);
  return {lower(line.substr(0, colon)), std::string(value)};
}

}  // namespace

void RequestText::append(std::string_view text) {
  text_.append(text);
  while (take_one()) continue;
}

bool RequestText::take_one() {
  if (text_.empty()) return false;
  if (state_ == State::Content) return take_content();
  if (state_ == State::Tunnel) return take_all();
  if (state_ != State::Head) return take_line();
  const std::size_t end = text_.find("\r\n\r\n");
  if (end == text_.npos) return false;
  const std::string head = text_.substr(0, end + 2);
  text_.erase(0, end + 4);
  take_head(head);
  return true;
}

void RequestText::take_head(std::string_view text) {
  const auto take_until = [&text](std::string_view mark) {
    const std::size_t end = text.find(mark);
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), part.size() + mark.size()));
    return part;
  };
  Head head;
  head.method = take_until(" ");
  head.target = take_until(" ");
  EXPECT_EQ(take_until("\r\n"), "HTTP/1.1") << "not a request that HTTP/2 can express";
  is_chunked_ = false;
  left_bytes_ = 0;
  while (!text.empty()) {
    auto field = field_of(take_until("\r\n"));
    const std::string& name = field.first;
    if (name == "host") {
      head.host = field.second;
    } else if (name == "upgrade") {
      head.protocol = field.second;
    } else if (name == "connection") {
      head.wants_close = field.second == "close";
    } else if (name == "transfer-encoding") {
      is_chunked_ = true;
    } else {
      if (name == "content-length") left_bytes_ = number(field.second, 10);
      head.fields.push_back(std::move(field));
    }
  }
  head.has_content = is_chunked_ || left_bytes_ != 0;
  if (head.has_content) state_ = is_chunked_ ? State::ChunkSize : State::Content;
  if (!head.protocol.empty()) state_ = State::Tunnel;
  events_.on_request(std::move(head));
}

bool RequestText::take_content() {
  const std::size_t count = std::min(left_bytes_, text_.size());
  events_.on_content(std::string_view(text_).substr(0, count));
  text_.erase(0, count);
  left_bytes_ -= count;
  if (left_bytes_ != 0) return false;
  if (is_chunked_) {
    state_ = State::ChunkEnd;
  } else {
    end_message();
  }
  return true;
}

bool RequestText::take_all() {
  events_.on_content(text_);
  text_.clear();
  return false;
}

bool RequestText::take_line() {
  const std::size_t end = text_.find("\r\n");
  if (end == text_.npos) return false;
  const std::string line = text_.substr(0, end);
  text_.erase(0, end + 2);
  if (state_ == State::ChunkEnd) {
    EXPECT_EQ(line, "");
    state_ = State::ChunkSize;
  } else if (state_ == State::ChunkSize) {
    left_bytes_ = number(line, 16);
    state_ = left_bytes_ != 0 ? State::Content : State::Trailers;
  } else if (line.empty()) {
    end_message();
  } else {
    trailers_.push_back(field_of(line));
  }
  return true;
}

void RequestText::end_message() {
  state_ = State::Head;
  events_.on_end(std::exchange(trailers_, {}));
}

}  // namespace skua::testing
