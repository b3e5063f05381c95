// SPDX-License-Identifier: MIT
// The rare events of an HTTP/2 exchange: it is refused, cut short, times out, or becomes a
// WebSocket.
#include <utility>

#include "loop/clock.hpp"
#include "server/accounting.hpp"
#include "server/h2/server_stream.hpp"
#include "server/resources.hpp"
#include "server/websocket/upgrades.hpp"

namespace skua::server {

H2Exchange::H2Exchange(Resources& resources) noexcept
    : TimerNode(on_timer),
      resources_(resources),
      call_(resources),
      early_data_(resources.content_budget),
      content_(resources.blocks) {}

H2Exchange::~H2Exchange() = default;

void H2Exchange::receive_nothing_more() {
  if (socket_ != nullptr) return socket_->receive_end();
  if (phase_ == Phase::Lingering) return session_->reset(*stream_, h2::ErrorCode::NoError);
  if (!stream_->has_received_all() && !is_for_tunnel())
    session_->reset(*stream_, h2::ErrorCode::Cancel);
}

// RFC 8441 §5: the stream becomes the connection of a WebSocket.
void H2Exchange::open_socket(const Asked& asked, Request& request, Response&& response) {
  status_ = response.status();
  phase_ = Phase::Response;
  content_state_ = Content::Ended;
  ++resources_.counters.responses;
  session_->respond(*stream_, head_of(response), true);
  begin_record(asked);
  finish_record(false);
  const detail::Upgrade& upgrade = *(*response.content().stream())->upgrade;
  socket_ = upgrade.server->on_stream(resources_, *this, *session_, *stream_, upgrade);
  socket_->start(request, upgrade);
  if (early_data_.size() != 0) socket_->receive(early_data_.view());
  early_data_.clear();
  if (stream_->has_received_all()) socket_->receive_end();
}

void H2Exchange::refuse(Errc code) {
  if (has_response()) return session_->reset(*stream_, h2::ErrorCode::Cancel);
  count_refusal(resources_, code);
  send(call_.asked(request().head, arrived_), Response{Error(code)}, code);
  forget_kept();
  if (!has_call_) return;
  if (call_.is_running()) ++resources_.counters.handlers_cancelled;
  has_call_ = false;
  call_.reset();
}

void H2Exchange::drain() {
  if (socket_ != nullptr) return socket_->drain();
  if (!response_.is_making() || !response_.is_endless()) return;
  response_.stop();
  wake();
}

void H2Exchange::linger() {
  finish_record(false);
  // A client that asks for a tunnel waits for the response anyway.
  if (request().head.method == Method::Connect) {
    return session_->reset(*stream_, h2::ErrorCode::NoError);
  }
  phase_ = Phase::Lingering;
  forget_kept();
  call_.release();
  wake();
  lingers_until_ = later(resources_.loop.now(), resources_.options.timeouts.linger);
}

void H2Exchange::on_timer(void* node) noexcept {
  H2Exchange& exchange = *static_cast<H2Exchange*>(static_cast<TimerNode*>(node));
  exchange.is_timer_due_ = true;
  exchange.wake();
}

void H2Exchange::time_out() {
  if (socket_ != nullptr) return socket_->time_out();
  const loop::Instant now = resources_.loop.now();
  // RFC 9113 §8.1: the rest of the request is not needed.
  if (phase_ == Phase::Lingering) return session_->reset(*stream_, h2::ErrorCode::NoError);
  if (has_call_ && !has_response() && handler_deadline_ <= now)
    return refuse(Errc::HandlerTimedOut);
  if (body_deadline() <= now) return refuse(Errc::TimedOut);
  if (content_.empty() || content_deadline_ > now) return;
  // Waiting for more urgent streams is not the peer's fault.
  if (!session_->is_blocked_by_window(*stream_)) {
    content_deadline_ = later(now, resources_.options.timeouts.write);
    return;
  }
  ++resources_.counters.refused_slow;
  session_->reset(*stream_, h2::ErrorCode::Cancel);
}

}  // namespace skua::server
