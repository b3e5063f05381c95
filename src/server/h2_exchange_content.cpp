// SPDX-License-Identifier: MIT
// The content of a response, at once or as it is made, into the frames that the session asks for.
#include <algorithm>
#include <utility>

#include "base/later.hpp"
#include "server/h2_exchange.hpp"
#include "server/handler_failure.hpp"
#include "server/journal.hpp"
#include "server/resources.hpp"
#include "server/websocket_server.hpp"

namespace skua::server {

void H2Exchange::send_stream(const h2::ResponseHead& head, Body&& content) {
  h2::ResponseHead told = head;
  if (!is_bodiless(status_)) told.length_bytes = (*content.stream())->length_bytes;
  // RFC 9110 §9.3.2, §6.4.1: these have no content, so nobody is asked to make it.
  if (request().head.method == Method::Head || is_bodiless(status_)) {
    is_content_ended_ = true;
    return session_->respond(*stream_, told, false);
  }
  session_->respond(*stream_, told, true);
  response_.start(*this, std::move(content), resources_.options.limits.stream_bytes);
  if (resources_.is_draining) drain();
  if (response_.is_made()) end_stream();
}

void H2Exchange::end_stream() {
  const std::exception_ptr failure = response_.end();
  if (failure != nullptr) log_task_failure(resources_, "a stream failed", failure);
  has_failed_ = failure != nullptr;
  is_content_ended_ = true;
  session_->resume_body(*stream_);
}

void H2Exchange::keep(Body&& piece) {
  if (content_.empty()) {
    content_deadline_ = later(resources_.loop.now(), resources_.options.timeouts.write);
  }
  content_.append(std::move(piece));
}

void H2Exchange::write_content(Body&& piece) {
  if (is_closed_) return;
  keep(std::move(piece));
  session_->resume_body(*stream_);
  owner_->settle_later();
}

h2::BodyRead H2Exchange::read_body(std::size_t most_bytes) noexcept {
  if (socket_ != nullptr) return socket_->read_body(most_bytes);
  using State = h2::BodyRead::State;
  const std::uint64_t pending = content_.size_bytes();
  const auto size_bytes = static_cast<std::size_t>(std::min<std::uint64_t>(most_bytes, pending));
  const bool is_all = is_content_ended_ && size_bytes == pending;
  if (!is_all) return {.bytes = size_bytes, .state = State::More};
  if (!has_failed_) {
    return {.bytes = size_bytes, .state = State::End, .trailers = response_.trailers().wire()};
  }
  return {.bytes = size_bytes, .state = size_bytes == 0 ? State::Failed : State::More};
}

void H2Exchange::write_body(net::OutputQueue& output, std::size_t size_bytes) {
  if (socket_ != nullptr) return socket_->write_body(output, size_bytes);
  content_deadline_ = later(resources_.loop.now(), resources_.options.timeouts.write);
  const bool is_whole = content_.move_to(output, size_bytes);
  if (record_ != nullptr) owner_->journal()->wrote(*record_, size_bytes);
  response_.drained();
  if (is_whole || has_failed_) return;
  // The frame's length is told already: it was filled up, and the peer is told.
  has_failed_ = true;
  session_->reset(*stream_, h2::ErrorCode::InternalError);
}

}  // namespace skua::server
