// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skua/bytes.hpp"
#include "skua/error.hpp"
#include "skua/redis_reply.hpp"

namespace skua::resp {

/// Bounds of a reply.
struct ReplyLimits {
  /// Bytes of a whole reply in memory: its texts, and the size of a Reply for each element.
  std::size_t reply_bytes = 64_MiB;
  std::size_t depth = 32;  ///< of arrays in arrays; 1 is an array of plain values
};

/// Parses RESP3, and the nulls of RESP2: bytes in, replies out.
///
/// An announced size costs nothing until its bytes come, and one past the limit fails at once.
/// Memory that it allocates may run out: std::bad_alloc, after which it must be destroyed.
class ReplyParser final {
 public:
  enum class Event : std::uint8_t { NeedMore, Reply, Failed };

  explicit ReplyParser(ReplyLimits limits = {}) noexcept : limits_(limits) {}
  ReplyParser(const ReplyParser&) = delete;
  ReplyParser& operator=(const ReplyParser&) = delete;

  /// Takes bytes from the front of `input`, up to the end of the next reply. After NeedMore, all
  /// were taken. After Failed, it returns Failed again.
  Event next(std::string_view& input);
  /// Returns the reply after Event::Reply.
  [[nodiscard]] redis::Reply take();
  /// Returns the reason of Event::Failed: MalformedReply or MessageTooLong.
  [[nodiscard]] Error error() const noexcept { return error_; }
  /// Whether a reply has begun but is incomplete.
  [[nodiscard]] bool is_in_reply() const noexcept;

 private:
  using Reply = redis::Reply;
  using Type = redis::ReplyType;
  enum class State : std::uint8_t { Head, Text, Complete, Failed };
  /// An aggregate whose elements are being read.
  struct Open {
    std::vector<Reply>* into;  ///< where they go
    std::size_t left;          ///< elements still to come
    Reply* owner;              ///< of attributes: the reply that comes after them; else null
  };

  bool read_head(std::string_view& input);
  bool read_text(std::string_view& input);
  void start(std::string_view head);
  void start_plain(char type, std::string_view rest);
  void start_text(Type type, std::string_view count);
  void start_elements(Type type, std::string_view count, std::size_t each);
  void start_attributes(std::string_view count);
  void end_text();
  void end_value();
  std::optional<std::size_t> read_count(std::string_view text) noexcept;
  bool charge(std::size_t bytes) noexcept;
  bool open(std::vector<Reply>& into, std::size_t count, Reply* owner);
  void fail(Errc code, const char* why) noexcept;

  ReplyLimits limits_;
  Reply root_{};
  Reply* target_ = &root_;  // where the next value goes
  std::vector<Reply>* attributes_ = nullptr;
  std::vector<Open> open_{};   // innermost last
  std::string head_{};         // an incomplete one
  std::size_t text_left_ = 0;  // with the CRLF
  std::size_t charged_ = sizeof(Reply);
  State state_ = State::Head;
  Error error_ = Errc::None;
};

}  // namespace skua::resp
