// SPDX-License-Identifier: MIT
// What a stream brings is kept until somebody reads it, and its window stays shut for so long;
// content that is sent is kept until the session asks for it.
#include "client/h2_exchange.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "client/h2_connection.hpp"
#include "http/trailers.hpp"
#include "net/append_file.hpp"
#include "skua/status.hpp"

namespace skua::client {
namespace {

constexpr std::uint64_t queue_high_bytes = 256 * 1024;  // then whoever makes content has to wait
constexpr http::Head no_trailers{};

using Event = h1::ResponseEvent;

}  // namespace

H2Exchange::H2Exchange(H2Connection& connection, net::OutputQueue::Blocks& blocks,
                       loop::Instant now, std::uint64_t most_content_bytes)
    : connection_(connection),
      most_content_bytes_(most_content_bytes),
      progress_(now),
      queue_(blocks) {}

H2Exchange::~H2Exchange() = default;

void H2Exchange::end() noexcept {
  producer_.reset();
  const bool is_broken_off = stream_ != nullptr && !is_whole_;
  if (stream_ != nullptr) connection_.session().release(*std::exchange(stream_, nullptr));
  connection_.forget(*this, is_broken_off);
}

void H2Exchange::note_progress() noexcept {
  progress_ = connection_.now();
  changed_.wake_all();
}

// The response ------------------------------------------------------------------------------------

Result<Exchange::Step> H2Exchange::read() {
  if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
  give_back_data();
  if (!heads_.empty()) {
    head_ = std::move(heads_.front());
    heads_.pop_front();
    return Step{.event = head_->head.status < 200 ? Event::Interim : Event::Head};
  }
  if (!received_.empty()) {
    looked_at_.swap(received_);
    return Step{.event = Event::Data, .data = looked_at_};
  }
  if (failure_) return *failure_;
  if (!is_whole_) return Step{};
  producer_.reset();  // nobody asks for the rest of the content
  return Step{.event = Event::Complete};
}

void H2Exchange::give_back_data() {
  if (looked_at_.empty()) return;
  if (stream_ != nullptr) {
    connection_.session().consume(*stream_, looked_at_.size());
    connection_.settle_later();
  }
  note_progress();  // until now it may have been for the server to wait
  looked_at_.clear();
}

const http::Head& H2Exchange::trailers() const noexcept {
  if (trailers_ == nullptr) return no_trailers;
  return trailers_->head;
}

void H2Exchange::take_head(std::unique_ptr<h2::ReceivedHead> head) {
  has_begun_ = true;
  const http::Head& told = head->head;
  const bool may_go_on = told.status == code(Status::Continue) && is_content_waiting_;
  const bool is_long =
      told.status >= 200 && h2::content_length(told).value_or(0) > most_content_bytes_;
  heads_.push_back(std::move(head));
  if (may_go_on) {
    may_begin_ = true;
    connection_.settle_later();
  }
  if (is_long) give_up(Error(Errc::BodyTooLong, "response"));
  note_progress();
}

void H2Exchange::take_data(std::string_view data) {
  content_bytes_ += data.size();
  if (content_bytes_ > most_content_bytes_) give_up(Error(Errc::BodyTooLong, "response"));
  if (stream_ != nullptr) received_.append(data);
  note_progress();
}

void H2Exchange::take_end(std::unique_ptr<h2::ReceivedHead> trailers) {
  trailers_ = std::move(trailers);
  is_whole_ = true;
  note_progress();
}

void H2Exchange::fail(const h2::StreamFailure& failure) {
  stream_ = nullptr;
  failure_ = failure.error;
  is_unprocessed_ = failure.is_unprocessed;
  has_begun_ = has_begun_ || failure.has_begun;
  producer_.reset();
  changed_.wake_all();
}

void H2Exchange::give_up(Error error) {
  if (stream_ != nullptr) connection_.session().release(*std::exchange(stream_, nullptr));
  failure_ = error;
  connection_.settle_later();
  changed_.wake_all();
}

// The request -------------------------------------------------------------------------------------

void H2Exchange::start(h2::Stream& stream, Body&& content, bool expects_continue) {
  stream_ = &stream;
  if (content.kind() == Body::Kind::None) return;
  content_ = std::move(content);
  is_content_over_ = false;
  is_content_waiting_ = expects_continue;
  if (!expects_continue) begin_content();
}

void H2Exchange::continue_now() {
  if (is_content_waiting_ && stream_ != nullptr) begin_content();
}

bool H2Exchange::can_advance() const noexcept {
  return may_begin_ || (producer_ && producer_->is_done() && !is_content_over_);
}

void H2Exchange::advance() {
  if (std::exchange(may_begin_, false)) {
    continue_now();
  } else {
    end_content();
  }
}

void H2Exchange::begin_content() {
  is_content_waiting_ = false;
  const std::shared_ptr<const BodyStream>* const stream = content_.stream();
  if (stream == nullptr) {
    is_content_over_ = true;
    return keep(std::exchange(content_, Body()));
  }
  left_bytes_ = (*stream)->length_bytes;
  writer_.emplace(static_cast<skua::detail::BodySink&>(*this));
  try {
    producer_.emplace((*stream)->produce(*writer_));
  } catch (...) {  // it may be a plain function that makes a task
    return fail_content(std::current_exception());
  }
  producer_->start(
      [](void* self) noexcept { static_cast<H2Exchange*>(self)->connection_.settle_later(); },
      this);
  if (producer_->is_done()) end_content();
}

// What the producer has come to.
void H2Exchange::end_content() {
  is_content_over_ = true;
  try {
    if (producer_) producer_->result();
    if (left_bytes_.value_or(0) != 0) throw Exception(Error(Errc::TruncatedBody, "request"));
    keep(Body());
  } catch (...) {
    fail_content(std::current_exception());
  }
}

void H2Exchange::fail_content(std::exception_ptr exception) {
  is_content_over_ = true;
  exception_ = std::move(exception);
  give_up(Error(Errc::Cancelled, "request"));
}

void H2Exchange::keep(Body&& piece) {
  if (stream_ == nullptr) return;
  const std::uint64_t size = piece.size_bytes();
  try {
    if (size != 0) queue_.append_piece(std::move(piece));
  } catch (const std::bad_alloc&) {  // whatever the producer makes of it
    return fail_content(std::current_exception());
  }
  queued_bytes_ += size;
  connection_.session().resume_body(*stream_);
  connection_.settle_later();
}

void H2Exchange::write(Body&& piece) {
  const std::uint64_t size = piece.size_bytes();
  if (size == 0 || is_content_over_) return;
  if (left_bytes_) {
    if (size > *left_bytes_) throw Exception(Error(Errc::BodyTooLong, "request"));
    *left_bytes_ -= size;
  }
  keep(std::move(piece));
}

void H2Exchange::add_trailer(std::string_view name, std::string_view value) {
  http::check_trailer(name);
  // HTTP/1 has no place for it behind a length that was told, and HTTP/2 is not to differ.
  if (!left_bytes_) trailers_to_send_.set(name, value);
}

bool H2Exchange::has_room() const noexcept { return queue_.pressure_bytes() < queue_high_bytes; }

void H2Exchange::wait(skua::detail::Waiter& waiter, std::coroutine_handle<> writer) {
  writers_.park(waiter, writer);
}

h2::BodyRead H2Exchange::read_body(std::size_t most_bytes) const noexcept {
  using State = h2::BodyRead::State;
  const auto size_bytes =
      static_cast<std::size_t>(std::min<std::uint64_t>(most_bytes, queued_bytes_));
  if (!is_content_over_ || size_bytes != queued_bytes_) return {.bytes = size_bytes};
  return {.bytes = size_bytes, .state = State::End, .trailers = trailers_to_send_.wire()};
}

void H2Exchange::write_body(net::OutputQueue& output, std::size_t size_bytes) {
  queued_bytes_ -= size_bytes;
  sent_bytes_ += size_bytes;
  ends_at_ = connection_.written_bytes();
  bool is_fine = true;
  while (size_bytes != 0) {
    const net::Segment& front = queue_.front();
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(size_bytes, front.size_bytes));
    if (front.file < 0) {
      output.append({front.data, count});
    } else {
      is_fine = net::append_file(output, front.file, front.offset, count) && is_fine;
    }
    queue_.consume(count);
    size_bytes -= count;
  }
  // The frame's length is told already; the server learns that by the reset behind it.
  if (!is_fine) give_up(Error(Errc::TruncatedBody, "request: a file"));
  // Half of the mark, so that a slow server does not cost a resumption for every byte it takes.
  if (queue_.pressure_bytes() <= queue_high_bytes / 2) writers_.wake_all();
  note_progress();
}

bool H2Exchange::is_all_sent() const noexcept {
  return is_content_over_ && queued_bytes_ == 0 && ends_at_ <= connection_.sent_bytes();
}

void H2Exchange::note_sent(std::uint64_t from) noexcept {
  if (ends_at_ > from) note_progress();
}

void H2Exchange::stop_sending() {
  is_content_over_ = true;
  producer_.reset();
}

}  // namespace skua::client
