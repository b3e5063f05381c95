// SPDX-License-Identifier: MIT
#pragma once

#include "head.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ladder {

/// Buffers that are not in use, and keep their memory for the next user.
class BufferPool final {
 public:
  /// Returns an empty buffer.
  std::string take();

  /// Takes a buffer back, and leaves an empty string without memory.
  void give_back(std::string& buffer);

 private:
  std::vector<std::string> free_;
};

/// Used by all connections of a thread in turn: only one of them is served at a time.
struct Shared {
  BufferPool pool;
  Head head;
};

/// The protocol of one connection, without any input or output: bytes in, answers out. An idle one
/// owns no memory. The rungs pooled and io_uring differ only in how they move the bytes.
class Conversation final {
 public:
  /// Takes what has arrived, which may be a part of a request, or many, and appends all answers.
  void receive(std::string_view input, Shared& shared, std::string& answers);

  /// Whether the connection has to be closed after the answers.
  [[nodiscard]] bool is_over() const { return is_over_; }

 private:
  bool step(std::string_view& input, Head& head, std::string& answers);
  void begin(const Head& head);
  void answer(std::string& answers);
  void refuse(Status why, std::string& answers);

  std::string partial_;       // a head that is incomplete, in a buffer of the pool
  std::size_t searched_ = 0;  // bytes of it without the end of the head
  Method method_ = Method::Other;
  bool keeps_alive_ = true;
  bool is_over_ = false;
  std::size_t body_bytes_ = 0;
  std::size_t body_left_ = 0;
};

}  // namespace ladder
