// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "body/content_queue.hpp"
#include "h2/connection.hpp"
#include "loop/clock.hpp"
#include "net/output_queue.hpp"
#include "server/resources.hpp"
#include "server/websocket/carrier.hpp"
#include "server/websocket/upgrades.hpp"

namespace skua::server {

/// A WebSocket, or a tunnel, on a stream of an HTTP/2 connection.
///
/// DATA frames take the place of a connection's bytes, END_STREAM that of its end, RST_STREAM of
/// its loss. Messages that the application has not taken count against the peer's window. Output
/// that the peer does not take is held here, up to ws::wire_high_water_bytes, and then by the
/// socket.
/// RFC:       8441 §5
template <class User>
class H2Socket final : public SocketStream, private Carrier {
 public:
  H2Socket(Resources& resources, StreamOwner& owner, h2::Connection& protocol, h2::Stream& stream,
           const detail::Upgrade& upgrade);

  void start(Request& request, const detail::Upgrade& upgrade) override;
  void receive(std::string_view data) override;
  void receive_end() override;

  [[nodiscard]] bool can_advance() const noexcept override;
  void advance() override;
  [[nodiscard]] h2::BodyRead read_body(std::size_t max_bytes) noexcept override;
  void write_data(net::OutputQueue& output, std::string_view head, std::size_t size_bytes) override;

  void drain() override { user_.drain(); }
  [[nodiscard]] std::optional<loop::Instant> deadline() const noexcept override;
  void time_out() override;
  void close() noexcept override;

 private:
  [[nodiscard]] Resources& resources() const noexcept override { return resources_; }
  void write(std::string_view text) override;
  void write(Body&& piece) override;
  [[nodiscard]] std::uint64_t pending_bytes() const noexcept override {
    return content_.pressure_bytes();
  }
  void settle_later() noexcept override { owner_.wake(); }
  void callback_failed(const std::exception_ptr& failure) noexcept override { user_.fail(failure); }
  void on_message(const Message& message) noexcept override { user_.on_message(message); }
  void on_drained() noexcept override { user_.on_drained(); }

  /// Starts the write timeout, and tells the connection that there is output.
  void await_peer();
  [[nodiscard]] bool owes_output() const noexcept { return !content_.empty() || is_ended_; }
  [[nodiscard]] bool owes_window() const noexcept {
    return held_bytes_ != 0 && user_.wants_input();
  }

  Resources& resources_;
  StreamOwner& owner_;
  h2::Connection& session_;
  h2::Stream& stream_;
  body::ContentQueue content_;      // output that the connection has not asked for
  loop::Instant write_deadline_{};  // while there is output, or our end has not been sent
  loop::Instant end_deadline_{};    // after that, for the peer to end its side
  std::size_t held_bytes_ = 0;      // received, and not given back to the peer's window
  bool is_ended_ = false;           // our side ends after content_
  bool is_end_told_ = false;
  bool is_closed_ = false;
  User user_;
};

template <class User>
H2Socket<User>::H2Socket(Resources& resources, StreamOwner& owner, h2::Connection& protocol,
                         h2::Stream& stream, const detail::Upgrade& upgrade)
    : resources_(resources),
      owner_(owner),
      session_(protocol),
      stream_(stream),
      content_(resources.blocks),
      user_(static_cast<Carrier&>(*this), upgrade) {}

template <class User>
void H2Socket<User>::start(Request& request, const detail::Upgrade& upgrade) {
  user_.start(request, upgrade);
  if (resources_.is_draining) user_.drain();
}

template <class User>
void H2Socket<User>::receive(std::string_view data) {
  held_bytes_ += data.size();
  std::string& bytes = resources_.unmask_scratch;
  bytes.assign(data);
  user_.receive(bytes);
}

template <class User>
void H2Socket<User>::receive_end() {
  user_.receive_end();
}

template <class User>
bool H2Socket<User>::can_advance() const noexcept {
  return user_.can_resume() || owes_window() || (user_.is_over() && !is_ended_);
}

template <class User>
void H2Socket<User>::advance() {
  user_.resume();
  if (owes_window()) session_.consume(stream_, std::exchange(held_bytes_, 0));
  if (!user_.is_over() || is_ended_) return;
  if (content_.empty()) await_peer();
  is_ended_ = true;
}

template <class User>
h2::BodyRead H2Socket<User>::read_body(std::size_t max_bytes) noexcept {
  using State = h2::BodyRead::State;
  const std::size_t size = content_.frame_bytes(max_bytes);
  is_end_told_ = is_ended_ && size == content_.size_bytes();
  if (is_end_told_) end_deadline_ = later(now(), resources_.options.timeouts.linger);
  return {.bytes = size, .state = is_end_told_ ? State::End : State::More};
}

template <class User>
void H2Socket<User>::write_data(net::OutputQueue& output, std::string_view head,
                                std::size_t size_bytes) {
  write_deadline_ = later(now(), resources_.options.timeouts.write);
  static_cast<void>(content_.move_to(output, head, size_bytes));  // cannot fail without files
  user_.output_drained();
}

template <class User>
void H2Socket<User>::write(std::string_view text) {
  if (is_closed_) return;
  if (content_.empty()) await_peer();
  content_.append(text);
}

template <class User>
void H2Socket<User>::write(Body&& piece) {
  if (is_closed_) return;
  if (content_.empty()) await_peer();
  content_.append(std::move(piece));
}

template <class User>
void H2Socket<User>::await_peer() {
  write_deadline_ = later(now(), resources_.options.timeouts.write);
  session_.resume_body(stream_);
}

template <class User>
std::optional<loop::Instant> H2Socket<User>::deadline() const noexcept {
  if (is_end_told_) return end_deadline_;
  return owes_output() ? write_deadline_ : user_.deadline();
}

template <class User>
void H2Socket<User>::time_out() {
  if (is_end_told_) return session_.reset(stream_, h2::ErrorCode::Cancel);
  if (!owes_output()) return user_.time_out();
  if (session_.is_blocked_by_window(stream_)) {
    ++resources_.counters.refused_slow;
    return session_.reset(stream_, h2::ErrorCode::Cancel);
  }
  // Waiting for more urgent streams is not the peer's fault.
  write_deadline_ = later(now(), resources_.options.timeouts.write);
}

template <class User>
void H2Socket<User>::close() noexcept {
  is_closed_ = true;
  user_.cancel();
}

}  // namespace skua::server
