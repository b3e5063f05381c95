// SPDX-License-Identifier: MIT
// The rare events of an HTTP/2 exchange: it is refused, cut short, times out, or becomes a
// WebSocket.
#include <utility>

#include "loop/clock.hpp"
#include "server/accounting.hpp"
#include "server/dispatch.hpp"
#include "server/h2/server_stream.hpp"
#include "server/resources.hpp"
#include "server/websocket/upgrades.hpp"

namespace skua::server {

ServerStream::ServerStream(Resources& resources) noexcept
    : TimerNode(on_timer),
      resources_(resources),
      run_(resources),
      early_data_(resources.content_budget),
      content_(resources.blocks) {}

ServerStream::~ServerStream() = default;

void ServerStream::receive_nothing_more() {
  if (socket_ != nullptr) return socket_->receive_end();
  if (phase_ == Phase::Lingering) return h2_->reset(*stream_, h2::ErrorCode::NoError);
  if (!stream_->has_received_all() && !is_for_tunnel()) h2_->reset(*stream_, h2::ErrorCode::Cancel);
}

void ServerStream::forget_head() noexcept {
  h2::Connection::forget_head(*stream_);
  // A socket may have a copy.
  if (socket_ != nullptr || held_bytes_ == 0) return;
  turn_->heads.give_back(resources_.content_budget, std::exchange(held_bytes_, 0));
}

// RFC 8441 §5: the stream becomes the connection of a WebSocket.
void ServerStream::open_socket(const RequestInfo& request_info, Request& request,
                               Response&& response) {
  if (held_bytes_ == 0 && !hold(stream_->head_bytes())) {
    count_refusal(resources_, Errc::Overloaded);
    return send(request_info, Response{Error(Errc::Overloaded)}, Errc::Overloaded);
  }
  status_ = response.status();
  phase_ = Phase::Response;
  content_state_ = Content::Ended;
  ++resources_.counters.responses;
  begin_record(request_info);
  respond(head_of(response), true);
  finish_record(ResponseEnd::Complete);
  const detail::Upgrade& upgrade = *(*response.content().stream())->upgrade;
  socket_ = upgrade.server->on_stream(resources_, *this, *h2_, *stream_, upgrade);
  socket_->start(request, upgrade);
  if (early_data_.size() != 0) socket_->receive(early_data_.view());
  early_data_.clear();
  if (stream_->has_received_all()) socket_->receive_end();
}

void ServerStream::refuse(Errc code) {
  if (has_response()) {
    end_ = end_for(code);
    return h2_->reset(*stream_, h2::ErrorCode::Cancel);
  }
  count_refusal(resources_, code);
  Response response = has_run_ ? run_.take_refusal(code) : Error(code);
  send(run_.request_info(request().head, arrived_), std::move(response), code);
  forget_kept();
  if (!has_run_) return;
  if (run_.is_running()) ++resources_.counters.handlers_cancelled;
  has_run_ = false;
  run_.reset();
}

void ServerStream::fail_stream(const std::exception_ptr& failure) {
  log_task_failure(resources_, "a stream failed", failure);
  content_state_ = Content::Failed;
  end_ = ResponseEnd::Failed;
  failed_with_ = h2::ErrorCode::InternalError;
  try {
    std::rethrow_exception(failure);
  } catch (const Exception& exception) {
    failed_with_ = h2::code_for(exception.error());
  } catch (...) {
    return;
  }
}

void ServerStream::drain() {
  if (socket_ != nullptr) return socket_->drain();
  if (!response_.is_making() || !response_.is_endless()) return;
  response_.stop();
  wake();
}

void ServerStream::linger() {
  finish_record(ResponseEnd::Complete);
  // A client that asks for a tunnel waits for the response anyway.
  if (request().head.method == Method::Connect) {
    return h2_->reset(*stream_, h2::ErrorCode::NoError);
  }
  phase_ = Phase::Lingering;
  forget_kept();
  run_.release();
  wake();
  lingers_until_ = later(resources_.loop.now(), resources_.options.timeouts.linger);
}

void ServerStream::on_timer(void* node) noexcept {
  ServerStream& exchange = *static_cast<ServerStream*>(static_cast<TimerNode*>(node));
  exchange.is_timer_due_ = true;
  exchange.wake();
}

void ServerStream::time_out() {
  if (socket_ != nullptr) return socket_->time_out();
  const loop::Instant now = resources_.loop.now();
  // RFC 9113 §8.1: the rest of the request is not needed.
  if (phase_ == Phase::Lingering) return h2_->reset(*stream_, h2::ErrorCode::NoError);
  if (has_run_ && !has_response() && run_.deadline() <= now) return refuse(Errc::HandlerTimedOut);
  if (body_deadline() <= now) return refuse(Errc::TimedOut);
  if (content_.empty() || content_deadline_ > now) return;
  // Waiting for more urgent streams is not the peer's fault.
  if (!h2_->is_blocked_by_window(*stream_)) {
    content_deadline_ = later(now, resources_.options.timeouts.write);
    return;
  }
  cut_off();
}

void ServerStream::cut_off() {
  ++resources_.counters.refused_slow;
  content_state_ = Content::Failed;
  end_ = ResponseEnd::TimedOut;
  h2_->reset(*stream_, h2::ErrorCode::Cancel);
}

}  // namespace skua::server
