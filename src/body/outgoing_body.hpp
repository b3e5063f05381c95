// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>

#include "skua/body.hpp"
#include "skua/body_writer.hpp"
#include "skua/field_lines.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua::body {

/// Where content goes: a protocol that frames it.
class Framer {
 public:
  /// A piece of the content, which is not empty.
  virtual void write_content(Body&& piece) = 0;
  /// How many bytes of what was written wait for the peer.
  [[nodiscard]] virtual std::uint64_t waiting_bytes() const noexcept = 0;
  /// The producer is done. Called from inside its last step: OutgoingBody::end() has to wait for
  /// the end of the turn.
  virtual void content_ended() noexcept = 0;

 protected:
  ~Framer() = default;
};

/// Content of a message on its way to a framer: a text, a file range, or what a producer makes
/// while it is sent. It holds a producer to the length that it told, and has it wait while the peer
/// does not keep up.
///
/// Destroying or resetting it cancels the producer.
/// RFC:       9110 §6.4, §6.5
class OutgoingBody final : private detail::BodySink {
 public:
  OutgoingBody() noexcept = default;
  OutgoingBody(const OutgoingBody&) = delete;
  OutgoingBody& operator=(const OutgoingBody&) = delete;
  ~OutgoingBody() { reset(); }

  /// Writes the content, or runs what makes it, inline at first. A producer waits while more than
  /// `most_waiting_bytes` do. The framer outlives it.
  void start(Framer& framer, Body&& content, std::uint64_t most_waiting_bytes);
  /// Between start() and end().
  [[nodiscard]] bool is_started() const noexcept {
    return state_ == State::Making || state_ == State::Made;
  }
  /// Whether a producer is at work.
  [[nodiscard]] bool is_making() const noexcept { return state_ == State::Making; }
  /// Whether all of the content was written, and end() is due.
  [[nodiscard]] bool is_made() const noexcept { return state_ == State::Made; }
  /// Whether the content has no end of its own.
  [[nodiscard]] bool is_endless() const noexcept {
    return stream_ != nullptr && stream_->is_endless;
  }
  /// Once it is made. Ends with: why it is not whole; null if it is.
  [[nodiscard]] std::exception_ptr end() noexcept;
  /// Drops the producer: what was written is the content.
  void stop() noexcept;
  /// The peer took some: wakes a producer that waited for it.
  void drained() noexcept {
    if (state_ == State::Making) wake_producer();
  }
  /// What follows the content. Empty if its length was told, as HTTP/1 has no place for it then and
  /// HTTP/2 is not to differ.
  [[nodiscard]] const FieldLines& trailers() const noexcept { return trailers_; }
  /// Drops everything; ready to be started again.
  void reset() noexcept {
    if (state_ != State::Idle) drop();
  }

 private:
  enum class State : std::uint8_t { Idle, Making, Made, Ended };

  void drop() noexcept;
  void wake_producer() noexcept;

  void write(Body&& piece) override;
  void add_trailer(std::string_view name, std::string_view value) override;
  [[nodiscard]] bool has_room() const noexcept override;
  void wait(detail::Waiter& waiter, std::coroutine_handle<> writer) override;

  Framer* framer_ = nullptr;
  std::uint64_t most_waiting_bytes_ = 0;
  std::uint64_t left_bytes_ = 0;  // of a length that was told
  State state_ = State::Idle;
  FieldLines trailers_;
  std::exception_ptr failure_;
  detail::WaiterList writers_;
  BodyWriter writer_{*this};
  std::shared_ptr<const BodyStream> stream_;  // what the producer refers to
  std::optional<Task<>> producer_;            // goes before what it refers to
};

}  // namespace skua::body
