// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <coroutine>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>

#include "skua/body.hpp"
#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/mistakes.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua {

class BodyWriter;

namespace detail {

/// The destination of a response's content while it is produced; implemented by servers, and by
/// layers between a handler and a server (compression).
class SKUA_API BodySink {
 public:
  /// Takes a piece even if there is no room.
  virtual void write(Body&& piece) = 0;
  /// Like write(), for a text that is valid during the call only.
  virtual void write_text(std::string_view text) { write(Body(text)); }
  virtual void add_trailer(std::string_view name, std::string_view value) = 0;
  /// Reports whether the peer keeps up.
  [[nodiscard]] virtual bool has_room() const noexcept = 0;
  /// Parks a writer until has_room().
  virtual void wait(Waiter& waiter, std::coroutine_handle<> writer) = 0;

 protected:
  ~BodySink() = default;
};

/// A takeover of the connection; see Router::websocket.
struct Upgrade;

template <class F>
concept Producer = std::is_convertible_v<F&&, std::function<Task<>(BodyWriter&)>>;

template <class F>
constexpr void need_producer() {
  static_assert(never<F>,
                "a stream is produced by a coroutine: [](skua::BodyWriter& out) -> skua::Task<> { "
                "co_await out.write(text); }");
}

/// Returns the sink of a writer, for layers that wrap one.
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

  /// Sends a piece: a text (copied, unless a std::string is moved in), a StaticText, a shared text,
  /// or a file range. It leaves at the end of this turn, with everything else that was written.
  ///
  /// Waits for: a peer that keeps up: at most Limits::stream_bytes are held in memory for it.
  /// Ends with: the writer dropped if the peer is gone or takes nothing for Timeouts::write;
  ///            Exception(BodyTooLong) past a declared length.
  Awaiter write(Body piece) {
    sink_->write(std::move(piece));
    return Awaiter(*sink_);
  }
  Awaiter write(Bytes piece) { return write(Body(text(piece))); }

  /// Adds a trailer field. HTTP/1.0 and content of a declared length have no place for it; there it
  /// is left out.
  ///
  /// Ends with: std::invalid_argument for a malformed field, or one that is forbidden in trailers.
  /// RFC:       9110 §6.5
  void trailer(std::string_view name, std::string_view value) { sink_->add_trailer(name, value); }

 private:
  friend detail::BodySink& detail::sink_of(BodyWriter& writer) noexcept;

  detail::BodySink* sink_;
};

inline detail::BodySink& detail::sink_of(BodyWriter& writer) noexcept { return *writer.sink_; }

/// Content produced while it is sent. What `produce` captures lives until it has ended.
struct BodyStream {
  std::function<Task<>(BodyWriter&)> produce{};
  std::optional<std::uint64_t> length_bytes{};  ///< of the whole content, if known
  bool is_endless = false;                      ///< ended when the server drains
  bool is_empty = false;  ///< nothing is produced, so that over HTTP/2 the head ends the message
  std::shared_ptr<const detail::Upgrade> upgrade{};  ///< set if the protocol is switched instead
};

}  // namespace skua
