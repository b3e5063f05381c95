// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "skua/body.hpp"
#include "skua/bytes.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua {

class BodyWriter;

namespace detail {

/// Where the content of a response goes while it is made: for servers, and for what stands between
/// a handler and one (compression).
class BodySink {
 public:
  /// Takes a piece, also when there is no room.
  virtual void write(Body&& piece) = 0;
  virtual void add_trailer(std::string_view name, std::string_view value) = 0;
  /// Whether the peer keeps up.
  [[nodiscard]] virtual bool has_room() const noexcept = 0;
  /// Parks a writer until has_room().
  virtual void wait(Waiter& waiter, std::coroutine_handle<> writer) = 0;

 protected:
  ~BodySink() = default;
};

/// What takes a connection over; see Router::websocket.
struct Upgrade;

/// Where a writer writes to: for what stands between two of them.
BodySink& sink_of(BodyWriter& writer) noexcept;

}  // namespace detail

/// Writes the content of a response piece by piece; see Response::stream.
class BodyWriter final {
 public:
  explicit BodyWriter(detail::BodySink& sink SKUA_LIFETIMEBOUND) noexcept : sink_(&sink) {}
  BodyWriter(const BodyWriter&) = delete;
  BodyWriter& operator=(const BodyWriter&) = delete;

  class [[nodiscard]] Awaiter {
   public:
    explicit Awaiter(detail::BodySink& sink) noexcept : sink_(&sink) {}
    [[nodiscard]] bool await_ready() const noexcept { return sink_->has_room(); }
    void await_suspend(std::coroutine_handle<> writer) { sink_->wait(waiter_, writer); }
    static void await_resume() noexcept {}

   private:
    detail::BodySink* sink_;
    detail::Waiter waiter_;
  };

  /// Sends a piece: a text (copied, unless it is a std::string that is moved here), a StaticText, a
  /// shared text, a file range. It leaves at the end of this turn, with what else was written.
  ///
  /// Waits for: a peer that keeps up: at most Limits::stream_bytes lie in memory for it.
  /// Ends with: the writer dropped when the peer is gone, or takes nothing for Timeouts::write;
  ///            Exception(BodyTooLong) past a length that was told before.
  Awaiter write(Body piece) {
    sink_->write(std::move(piece));
    return Awaiter(*sink_);
  }
  Awaiter write(Bytes piece) { return write(Body(text(piece))); }

  /// Adds a field that follows the content. HTTP/1.0 and a told length have no place for it: there
  /// it is left out.
  ///
  /// Ends with: std::invalid_argument for what Response::header would not take.
  /// RFC:       9110 §6.5
  void trailer(std::string_view name, std::string_view value) { sink_->add_trailer(name, value); }

 private:
  friend detail::BodySink& detail::sink_of(BodyWriter& writer) noexcept;

  detail::BodySink* sink_;
};

inline detail::BodySink& detail::sink_of(BodyWriter& writer) noexcept { return *writer.sink_; }

/// Content that is made while it is sent. What `produce` captures lives until it has ended.
struct BodyStream {
  std::function<Task<>(BodyWriter&)> produce{};
  std::optional<std::uint64_t> length_bytes{};       ///< of all the content, where it is known
  bool is_endless = false;                           ///< a server that drains ends it
  std::shared_ptr<const detail::Upgrade> upgrade{};  ///< where the protocol is changed instead
};

}  // namespace skua
