// SPDX-License-Identifier: MIT
// The part of a session that has to do with handlers that wait: their responses are written when
// they are there, their streams are ended, and what waits behind them goes on.
#include <utility>

#include "server/dispatch.hpp"
#include "server/h1_session.hpp"
#include "server/h1_writer.hpp"
#include "server/journal.hpp"
#include "server/websocket_server.hpp"

namespace skua::server {

void H1Session::feed(std::string_view input) {
  const Result<void> taken = exchange_->receive(input);
  if (!taken) refuse(taken.error().code());
}

// RFC 9110 §15.2.2: behind the head follows what was asked for.
void H1Session::upgrade(const http::Head& head, const h1::Framing& framing, Request& request,
                        Response&& response, Journal::Entry* record) {
  const std::shared_ptr<const detail::Upgrade> told = (*response.content().stream())->upgrade;
  write(head, framing, std::move(response), false, record);
  finish_record(record);
  std::unique_ptr<SocketSession> next =
      told->server->on_connection(resources_, pump_.output(), owner_, *told);
  SocketSession& session = *next;
  is_replaced_ = true;
  owner_.replace_session(std::move(next));
  session.start(request, *told);
}

// As far as it is ready; when it is over, what arrived behind its request.
std::optional<std::string> H1Session::advance_exchange(bool is_last_received) {
  if (exchange_->has_response()) write_exchange_response(is_last_received);
  if (exchange_->has_stream_end()) {
    // RFC 9112 §8: only closing tells the peer that the content is not whole.
    if (!exchange_->end_stream() || !exchange_->can_keep_alive()) is_finished_ = true;
  }
  if (!exchange_has_ended()) return std::nullopt;
  std::string held = exchange_->take_held();
  resources_.give_back(std::move(exchange_));
  return held;
}

bool H1Session::can_resume_exchange() const noexcept {
  return exchange_->has_response() || exchange_->has_stream_end() ||
         exchange_->can_resume_input() || exchange_has_ended();
}

bool H1Session::exchange_has_ended() const noexcept {
  return exchange_->has_finished_response() && (is_finished_ || exchange_->is_over());
}

// The response of a plain handler, whose request is over.
void H1Session::answer_with_stream(const http::Head& head, const h1::Framing& framing,
                                   Response&& response, Attachments&& attachments,
                                   bool is_last_received, Journal::Entry* record) {
  exchange_ = resources_.take_exchange();
  exchange_->open(owner_, pump_.output());
  exchange_->adopt(head, framing, resources_.take_inbox(), std::move(attachments));
  write_with_stream(std::move(response), is_last_received, record);
}

void H1Session::write_exchange_response(bool is_last_received) {
  Response response = exchange_->take_response();
  Journal::Entry* const record = begin_record(exchange_->asked(), response.status());
  if (opens_another_protocol(response)) {
    upgrade(exchange_->head(), exchange_->framing(), exchange_->request(), std::move(response),
            record);
    return exchange_->finish_response();
  }
  if (response.content().stream() != nullptr) {
    return write_with_stream(std::move(response), is_last_received, record);
  }
  if (!exchange_->can_keep_alive()) is_finished_ = true;
  write(exchange_->head(), exchange_->framing(), std::move(response), is_last_received, record);
  exchange_->finish_response();
  finish_record(record);
}

// A stream may go on reading the request, so that its end decides whether another one can follow.
void H1Session::write_with_stream(Response&& response, bool is_last_received,
                                  Journal::Entry* record) {
  const http::Head& head = exchange_->head();
  const Status status = response.status();
  Body content = response.content();
  const BodyStream& stream = **content.stream();
  const bool is_old = head.minor_version == 0;
  // RFC 9110 §9.3.2, §6.4.1: the others have no content, so nobody is asked to make it.
  const bool has_content = head.method != Method::Head && !is_bodiless(status);
  if (has_content && code(status) < 300) {
    exchange_->continue_request();
  } else if (!exchange_->can_keep_alive()) {
    is_finished_ = true;
  }
  // RFC 9112 §6.3: without chunks only closing ends content whose length is not known.
  if (!stream.length_bytes && is_old) is_finished_ = true;
  write(head, exchange_->framing(), std::move(response), is_last_received, record);
  exchange_->begin_stream();
  if (!has_content) {
    exchange_->finish_response();
    return finish_record(record);
  }
  const bool is_chunked = !stream.length_bytes && !is_old;
  exchange_->start_stream(std::move(content), is_chunked, record);
}

}  // namespace skua::server
