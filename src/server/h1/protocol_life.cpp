// SPDX-License-Identifier: MIT
// The rare events of HTTP/1 on a connection: its start and end, refused requests, and input that
// has to be kept for later.
#include <algorithm>
#include <limits>
#include <utility>

#include "h1/request_line.hpp"
#include "loop/clock.hpp"
#include "server/accounting.hpp"
#include "server/h1/protocol.hpp"
#include "server/h1/writer.hpp"
#include "server/resources.hpp"

namespace skua::server {

H1Protocol::H1Protocol(Resources& resources, net::StreamPumpUser& user) noexcept
    : resources_(resources), pump_(user, resources.loop, resources.blocks) {
  const Duration::rep age = end_of_age(resources, this).time_since_epoch().count() >> 28;
  ages_at_ = static_cast<std::uint32_t>(
      std::min<Duration::rep>(age, std::numeric_limits<std::uint32_t>::max()));
}

void H1Protocol::end() noexcept {
  successor_.reset();
  cancel();
  drop_partial_request();
}

void H1Protocol::receive_end() {
  const bool lacks_body =
      exchange_ != nullptr && exchange_->has_unread_body() && !exchange_->has_held();
  // RFC 9112 §8: a body that ends early is an incomplete message.
  if (lacks_body) return refuse(Errc::TruncatedBody);
  if (!has_work()) is_finished_ = true;
}

void H1Protocol::time_out() {
  if (exchange_ != nullptr) return refuse(exchange_->overdue());
  const std::string_view received =
      partial_request_ != nullptr ? std::string_view(partial_request_->input) : "";
  const http::Head line = h1::read_request_line(received);
  refuse(Errc::TimedOut, &line);
}

void H1Protocol::cancel() noexcept {
  if (exchange_ == nullptr) return;
  if (exchange_->is_running()) ++resources_.counters.handlers_cancelled;
  resources_.give_back(std::move(exchange_));
}

void H1Protocol::drain() {
  if (exchange_ != nullptr) exchange_->drain();
}

void H1Protocol::keep_head(std::string_view input) {
  PartialRequest& box = partial_request();
  box.parser.continue_from(resources_.parser);
  box.input.assign(input);
  waiting_ = Waiting::Head;
  box.deadline = later(resources_.loop.now(), resources_.options.timeouts.head);
}

// The record contains whatever was parsed of the request.
void H1Protocol::refuse(Errc code, const http::Head* head) {
  constexpr http::Head nothing;
  const RequestInfo request_info =
      exchange_ != nullptr ? exchange_->request_info()
                           : RequestInfo{head != nullptr ? *head : nothing, resources_.loop.now()};
  is_finished_ = true;
  waiting_ = Waiting::Request;
  count_refusal(resources_, code);
  // After a response has begun, an error can only be signaled by closing.
  if (exchange_ != nullptr && exchange_->has_started_response()) {
    if (Accounting* const recorder = accounting()) recorder->will_end(end_for(code));
  } else {
    const bool is_head = request_info.head.method == Method::Head;  // RFC 9110 §9.3.2
    Response response = exchange_ != nullptr ? exchange_->take_refusal(code) : Error(code);
    Accounting::Entry* const record = begin_record(request_info, response.status(), code);
    const std::uint64_t content_bytes =
        write_response(pump_.output(), std::move(response),
                       {.dated = resources_.dated(), .is_head = is_head, .keep_alive = false});
    ++resources_.counters.responses;
    if (record != nullptr) record->owner->wrote(*record, content_bytes);
    finish_record(record);
  }
  cancel();
  drop_partial_request();
}

void H1Protocol::stall(std::string_view input) {
  is_stalled_ = true;
  partial_request().input.append(input);
}

PartialRequest& H1Protocol::partial_request() {
  if (partial_request_ == nullptr) partial_request_ = resources_.take_inbox();
  return *partial_request_;
}

}  // namespace skua::server
