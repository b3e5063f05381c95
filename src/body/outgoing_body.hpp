// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "h1/message_writer.hpp"
#include "net/output_queue.hpp"
#include "skua/body.hpp"
#include "skua/body_writer.hpp"
#include "skua/config.hpp"
#include "skua/field_lines.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua::body {

/// A text of this length is cheaper to send at once than to copy.
constexpr std::size_t long_text_bytes = 16 * 1024;

/// The destination of content: a protocol that frames it.
class Framer {
 public:
  /// Writes a piece of the content, which is never empty.
  virtual void write_content(Body&& piece) = 0;
  /// Like write_content(), for a text that is valid during the call only.
  SKUA_COLD virtual void write_content_text(std::string_view text);
  /// The number of written bytes that the peer has not taken yet.
  [[nodiscard]] virtual std::uint64_t waiting_bytes() const noexcept = 0;
  /// Called when the producer is done, from inside its last step: OutgoingBody::end() has to wait
  /// for the end of the turn.
  virtual void content_ended() noexcept = 0;

 protected:
  ~Framer() = default;
};

/// Content of a message on its way to a framer: a text, a file range, or the output of a producer.
/// It holds a producer to its declared length, and suspends it while the peer does not keep up.
///
/// Destroying or resetting it cancels the producer.
/// RFC:       9110 §6.4, §6.5
class OutgoingBody final : private detail::BodySink {
 public:
  OutgoingBody() noexcept = default;
  OutgoingBody(const OutgoingBody&) = delete;
  OutgoingBody& operator=(const OutgoingBody&) = delete;
  ~OutgoingBody() { reset(); }

  /// Writes the content, or starts its producer inline. A producer waits while `max_waiting_bytes`
  /// or more do. The framer must outlive this.
  void start(Framer& framer, Body&& content, std::uint64_t max_waiting_bytes);
  /// Reports whether this is between start() and end().
  [[nodiscard]] bool is_started() const noexcept {
    return state_ == State::Making || state_ == State::Made;
  }
  /// Reports whether a producer is running.
  [[nodiscard]] bool is_making() const noexcept { return state_ == State::Making; }
  /// Reports whether all content was written and end() is due.
  [[nodiscard]] bool is_made() const noexcept { return state_ == State::Made; }
  /// Reports whether the content is endless.
  [[nodiscard]] bool is_endless() const noexcept {
    return stream_ != nullptr && stream_->is_endless;
  }
  /// Ends the body once is_made(). Returns why it is incomplete; null if it is complete.
  [[nodiscard]] std::exception_ptr end() noexcept;
  /// After end(): reports that the producer ended with SlowPeer.
  [[nodiscard]] bool is_cut() const noexcept { return state_ == State::Cut; }
  /// Drops the producer; the content ends with what was written.
  void stop() noexcept;
  /// Called when the peer took some content: wakes a waiting producer.
  void drained() noexcept {
    if (state_ == State::Making) wake_producer();
  }
  /// The trailers. Empty if the length was declared, as HTTP/1 has no place for them then, and
  /// HTTP/2 must not differ.
  [[nodiscard]] const FieldLines& trailers() const noexcept { return trailers_; }
  /// Drops everything, ready for another start().
  void reset() noexcept {
    if (state_ != State::Idle) drop();
  }

 private:
  enum class State : std::uint8_t { Idle, Making, Made, Ended, Cut };

  void drop() noexcept;
  void wake_producer() noexcept;

  void write(Body&& piece) override;
  SKUA_COLD void write_text(std::string_view text) override;
  [[nodiscard]] bool takes(std::uint64_t size_bytes);
  void add_trailer(std::string_view name, std::string_view value) override;
  [[nodiscard]] bool has_room() const noexcept override;
  void wait(detail::Waiter& waiter, std::coroutine_handle<> writer) override;

  Framer* framer_ = nullptr;
  std::uint64_t max_waiting_bytes_ = 0;
  std::uint64_t left_bytes_ = 0;  // of the declared length
  State state_ = State::Idle;
  FieldLines trailers_;
  std::exception_ptr failure_;
  detail::WaiterList writers_;
  BodyWriter writer_{*this};
  std::shared_ptr<const BodyStream> stream_;  // the producer refers to it
  std::optional<Task<>> producer_;            // destroyed before what it refers to
};

/// Writes a piece of content as a chunk; long pieces are not copied. RFC 9112 §7.1
void append_chunk(net::OutputQueue& output, Body&& piece);

/// A text on its way into an output: a chunk, or as it is. Its first bytes may be sent at once,
/// without a copy.
class TextToSend final {
 public:
  SKUA_COLD TextToSend(std::string_view text, bool is_chunk) noexcept;
  TextToSend(const TextToSend&) = delete;
  TextToSend& operator=(const TextToSend&) = delete;

  /// Reports whether a send of its own is cheaper than a copy.
  [[nodiscard]] bool is_long() const noexcept { return text_bytes_ >= long_text_bytes; }
  [[nodiscard]] std::span<const net::Slice> slices() const noexcept {
    return {slices_.data(), count_};
  }
  /// Appends all but the first `sent_bytes`.
  SKUA_COLD void append_rest(net::OutputQueue& output, std::size_t sent_bytes) const;
  /// Returns how many of the first `sent_bytes` belong to the text.
  [[nodiscard]] std::size_t text_bytes_of(std::size_t sent_bytes) const noexcept {
    return std::min(sent_bytes - std::min(sent_bytes, header_bytes_), text_bytes_);
  }

 private:
  SKUA_COLD void add(std::string_view part) noexcept;

  std::array<char, h1::chunk_header_bytes> header_;
  std::array<net::Slice, 3> slices_;
  std::size_t count_ = 0;
  std::size_t header_bytes_ = 0;
  std::size_t text_bytes_;
};

/// Writes the end of chunked content. RFC 9112 §7.1.2
void append_last_chunk(net::OutputQueue& output, const FieldLines& trailers);

}  // namespace skua::body
