// SPDX-License-Identifier: MIT
// Carries a WebSocket on an HTTP/2 stream: DATA frames take the place of a connection's bytes, and
// END_STREAM that of its end. The window opens as the application takes messages. RFC 8441 §5
#include "server/websocket/h2_socket.hpp"

#include "loop/clock.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace skua::server {

H2Socket::H2Socket(Resources& resources, StreamOwner& owner, h2::Connection& protocol,
                   h2::Stream& stream, const Takeovers& users, const detail::Upgrade& upgrade)
    : resources_(resources),
      owner_(owner),
      session_(protocol),
      stream_(stream),
      content_(resources.blocks),
      run_(users.take_over(resources, static_cast<ws::Wire&>(*this), upgrade)) {}

void H2Socket::start(Request& request, const detail::Upgrade& upgrade) {
  run_->start(request, upgrade);
  if (resources_.is_draining) run_->drain();
}

void H2Socket::receive(std::string_view data) {
  held_bytes_ += data.size();
  std::string& bytes = resources_.unmask_scratch;
  bytes.assign(data);
  run_->receive(bytes);
}

void H2Socket::receive_end() { run_->receive_end(); }

bool H2Socket::can_advance() const noexcept {
  return run_->can_resume() || owes_window() || (run_->is_over() && !is_ended_);
}

void H2Socket::advance() {
  run_->resume();
  if (owes_window()) session_.consume(stream_, std::exchange(held_bytes_, 0));
  if (!run_->is_over() || is_ended_) return;
  if (content_.empty()) await_peer();
  is_ended_ = true;
}

h2::BodyRead H2Socket::read_body(std::size_t max_bytes) noexcept {
  using State = h2::BodyRead::State;
  const std::size_t size = content_.frame_bytes(max_bytes);
  is_end_told_ = is_ended_ && size == content_.size_bytes();
  if (is_end_told_) end_deadline_ = later(now(), resources_.options.timeouts.linger);
  return {.bytes = size, .state = is_end_told_ ? State::End : State::More};
}

void H2Socket::write_data(net::OutputQueue& output, std::string_view head, std::size_t size_bytes) {
  write_deadline_ = later(now(), resources_.options.timeouts.write);
  static_cast<void>(content_.move_to(output, head, size_bytes));  // cannot fail without files
  run_->output_drained();
}

void H2Socket::write(std::string_view text) {
  if (is_closed_) return;
  if (content_.empty()) await_peer();
  content_.append(text);
}

void H2Socket::write(Body&& piece) {
  if (is_closed_) return;
  if (content_.empty()) await_peer();
  content_.append(std::move(piece));
}

void H2Socket::await_peer() {
  write_deadline_ = later(now(), resources_.options.timeouts.write);
  session_.resume_body(stream_);
}

std::optional<loop::Instant> H2Socket::deadline() const noexcept {
  if (is_end_told_) return end_deadline_;
  return owes_output() ? write_deadline_ : run_->deadline();
}

void H2Socket::time_out() {
  if (is_end_told_) return session_.reset(stream_, h2::ErrorCode::Cancel);
  if (!owes_output()) return run_->time_out();
  if (session_.is_blocked_by_window(stream_)) {
    ++resources_.counters.refused_slow;
    return session_.reset(stream_, h2::ErrorCode::Cancel);
  }
  // Waiting for more urgent streams is not the peer's fault.
  write_deadline_ = later(now(), resources_.options.timeouts.write);
}

void H2Socket::close() noexcept {
  is_closed_ = true;
  run_->cancel();
}

}  // namespace skua::server
