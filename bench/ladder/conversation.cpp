// SPDX-License-Identifier: MIT
//
// In: bytes of one connection as they arrive. Out: answers, appended to a buffer of the caller.
// The idea: requests are parsed where they arrived, as many as there are. Only an incomplete head
// is copied, into a buffer that is borrowed until the head is complete.

#include "conversation.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace ladder {

std::string BufferPool::take() {
  if (free_.empty()) return {};
  std::string buffer = std::move(free_.back());
  free_.pop_back();
  return buffer;
}

void BufferPool::give_back(std::string& buffer) {
  buffer.clear();
  free_.push_back(std::exchange(buffer, {}));
}

void Conversation::receive(std::string_view input, Shared& shared, std::string& answers) {
  const bool was_partial = !partial_.empty();
  if (was_partial) input = partial_.append(input);
  while (!is_over_ && step(input, shared.head, answers)) {
  }
  if (is_over_) input = {};
  // The rest is the beginning of a head.
  if (was_partial) {
    partial_.erase(0, partial_.size() - input.size());
    if (partial_.empty()) shared.pool.give_back(partial_);
  } else if (!input.empty()) {
    partial_ = shared.pool.take();
    partial_ = input;
  }
}

// Takes a head or a piece of a body off `input`; returns false if more has to arrive.
bool Conversation::step(std::string_view& input, Head& head, std::string& answers) {
  if (body_left_ > 0) {
    const std::size_t size = std::min(input.size(), body_left_);
    input.remove_prefix(size);
    body_left_ -= size;
    if (body_left_ > 0) return false;
    answer(answers);
    return true;
  }
  const std::size_t size = head_size(input, searched_);
  if (size > max_head_bytes || (size == 0 && input.size() > max_head_bytes)) {
    refuse(Status::HeadTooLarge, answers);
    return true;
  }
  searched_ = size == 0 ? input.size() : 0;
  if (size == 0) return false;
  // Views into `input` end with this call: the next receive() finds other bytes there.
  const Status status = head.parse(input.substr(0, size));
  if (status != Status::Ok) {
    refuse(status, answers);
    return true;
  }
  input.remove_prefix(size);
  begin(head);
  if (body_left_ == 0) answer(answers);
  if (body_left_ > input.size() && head.expects_continue) answers += please_continue;
  return true;
}

void Conversation::begin(const Head& head) {
  method_ = head.method;
  keeps_alive_ = head.keeps_alive;
  body_bytes_ = body_left_ = head.content_length;
}

void Conversation::answer(std::string& answers) {
  std::array<char, 20> digits;
  const auto text_of = [&digits](std::size_t number) -> std::string_view {
    return {digits.data(), std::to_chars(digits.begin(), digits.end(), number).ptr};
  };
  const std::size_t size = method_ == Method::Post ? text_of(body_bytes_).size() : hello.size();
  answers += "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";
  if (!keeps_alive_) answers += "Connection: close\r\n";
  answers.append("Content-Length: ").append(text_of(size)).append("\r\n\r\n");
  answers += method_ == Method::Post ? text_of(body_bytes_) : hello;
  is_over_ = !keeps_alive_;
}

void Conversation::refuse(Status why, std::string& answers) {
  answers += refusal(why);
  is_over_ = true;
}

}  // namespace ladder
