// SPDX-License-Identifier: MIT
// Received data is kept until it is read, and the stream's window stays closed until then. Content
// to send is kept until the session asks for it.
#include "client/wire/client_stream.hpp"

#include <algorithm>
#include <utility>

#include "client/wire/h2_connection.hpp"
#include "client/wire/h2_tunnel.hpp"
#include "skua/status.hpp"

namespace skua::client {
namespace {

constexpr std::uint64_t queue_high_bytes = 64 * 1024;   // then the content's producer has to wait
constexpr std::uint64_t tunnel_high_bytes = 64 * 1024;  // then the tunnel has to wait
constexpr http::Head no_trailers{};
constexpr const char* too_many_heads = "all responses of the client together";

using Event = h1::ResponseEvent;

}  // namespace

ClientStream::ClientStream(H2Connection& connection, net::OutputQueue::Blocks& blocks,
                           loop::Instant now, std::uint64_t max_content_bytes)
    : connection_(connection),
      max_content_bytes_(max_content_bytes),
      progress_(now),
      queue_(blocks) {}

ClientStream::~ClientStream() = default;

void ClientStream::end() noexcept {
  body_.reset();
  const bool is_broken_off = stream_ != nullptr && !is_whole_;
  if (stream_ != nullptr) connection_.session().release(*std::exchange(stream_, nullptr));
  connection_.give_back(std::exchange(held_bytes_, 0));
  connection_.forget(*this, is_broken_off);
}

void ClientStream::note_progress() noexcept {
  progress_ = connection_.now();
  changed_.wake_all();
}

// While bytes of the stream wait in the connection's output, all that is sent brings them nearer.
loop::Instant ClientStream::progress() const noexcept {
  return unsent_.is_linked() ? std::max(progress_, connection_.sent_at()) : progress_;
}

// The response ------------------------------------------------------------------------------------

Result<Exchange::Step> ClientStream::read() {
  if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
  if (is_accepted_) return Step{.event = Event::Switched};
  give_back_data();
  if (!heads_.empty()) {
    drop_head();
    head_ = std::move(heads_.front());
    heads_.pop_front();
    is_accepted_ = content_state_ == Content::Tunnel && head_->head.status / 100 == 2;
    return Step{.event = head_->head.status < 200 ? Event::Interim : Event::Head};
  }
  if (!received_.empty()) {
    looked_at_.swap(received_);
    return Step{.event = Event::Data, .data = looked_at_};
  }
  if (failure_) return *failure_;
  if (!is_whole_) return Step{};
  body_.reset();  // the rest of the content is not needed
  return Step{.event = Event::Complete};
}

void ClientStream::give_back_data() {
  if (looked_at_.empty()) return;
  if (stream_ != nullptr) {
    connection_.session().consume(*stream_, looked_at_.size());
    connection_.settle_later();
  }
  note_progress();  // until now the server may have been waiting for us
  looked_at_.clear();
}

const http::Head& ClientStream::trailers() const noexcept {
  if (trailers_ == nullptr) return no_trailers;
  return trailers_->head;
}

bool ClientStream::hold(const h2::ReceivedHead& head) noexcept {
  const std::size_t size_bytes = head.builder.list_bytes();
  if (!connection_.hold(size_bytes)) return false;
  held_bytes_ += size_bytes;
  return true;
}

void ClientStream::drop_head() noexcept {
  if (head_ == nullptr) return;
  const std::size_t size_bytes = head_->builder.list_bytes();
  connection_.give_back(size_bytes);
  held_bytes_ -= size_bytes;
  head_.reset();
}

void ClientStream::take_head(std::unique_ptr<h2::ReceivedHead> head) {
  has_begun_ = true;
  if (!hold(*head)) return give_up(Error(Errc::HeadTooLong, too_many_heads));
  const http::Head& told = head->head;
  const bool may_go_on =
      told.status == code(Status::Continue) && content_state_ == Content::Waiting;
  const bool is_long =
      told.status >= 200 && h2::content_length(told).value_or(0) > max_content_bytes_;
  heads_.push_back(std::move(head));
  if (may_go_on) {
    content_state_ = Content::Allowed;
    connection_.call(*this);
  }
  if (is_long) give_up(Error(Errc::BodyTooLong, "response"));
  note_progress();
}

void ClientStream::take_data(std::string_view data) {
  content_bytes_ += data.size();
  if (content_bytes_ > max_content_bytes_) give_up(Error(Errc::BodyTooLong, "response"));
  if (stream_ != nullptr) received_.append(data);
  note_progress();
  tell_tunnel();
}

void ClientStream::take_end(std::unique_ptr<h2::ReceivedHead> trailers) {
  if (trailers != nullptr && !hold(*trailers)) {
    return give_up(Error(Errc::HeadTooLong, too_many_heads));
  }
  trailers_ = std::move(trailers);
  is_whole_ = true;
  note_progress();
  tell_tunnel();
}

void ClientStream::fail(const h2::StreamFailure& failure) {
  stream_ = nullptr;
  failure_ = failure.error;
  is_unprocessed_ = failure.is_unprocessed;
  has_begun_ = has_begun_ || failure.has_begun;
  body_.reset();
  changed_.wake_all();
  tell_tunnel();
}

void ClientStream::give_up(Error error) {
  if (stream_ != nullptr) connection_.session().release(*std::exchange(stream_, nullptr));
  failure_ = error;
  connection_.settle_later();
  changed_.wake_all();
  tell_tunnel();
}

// The request -------------------------------------------------------------------------------------

void ClientStream::start(h2::Stream& stream, Body&& content, bool expects_continue) {
  stream_ = &stream;
  if (content.kind() == Body::Kind::None) return;
  content_ = std::move(content);
  content_state_ = Content::Waiting;
  if (!expects_continue) begin_content();
}

void ClientStream::continue_now() {
  if (content_state_ == Content::Allowed) content_state_ = Content::Waiting;
  if (content_state_ == Content::Waiting && stream_ != nullptr) begin_content();
}

bool ClientStream::can_advance() const noexcept {
  if (tunnel_ != nullptr) return tunnel_->has_news();
  return content_state_ == Content::Allowed || body_.is_made();
}

void ClientStream::advance() {
  if (tunnel_ != nullptr) return tunnel_->tell();
  if (content_state_ == Content::Allowed) {
    continue_now();
  } else {
    end_content();
  }
}

void ClientStream::begin_content() {
  content_state_ = Content::Sending;
  body_.start(*this, std::exchange(content_, Body()), queue_high_bytes);
  if (body_.is_made()) end_content();
}

void ClientStream::end_content() {
  content_state_ = Content::Over;
  exception_ = body_.end();
  if (exception_ != nullptr) return give_up(Error(Errc::Cancelled, "request"));
  if (stream_ != nullptr) connection_.session().resume_body(*stream_);
  connection_.settle_later();
}

void ClientStream::content_ended() noexcept { connection_.call(*this); }

void ClientStream::write_content(Body&& piece) {
  if (stream_ == nullptr) return;
  queue_.append(std::move(piece));
  connection_.session().resume_body(*stream_);
  connection_.settle_later();
}

h2::BodyRead ClientStream::read_body(std::size_t max_bytes) const noexcept {
  using State = h2::BodyRead::State;
  const std::size_t size_bytes = queue_.frame_bytes(max_bytes);
  if (content_state_ != Content::Over || size_bytes != queue_.size_bytes())
    return {.bytes = size_bytes};
  return {.bytes = size_bytes, .state = State::End, .trailers = body_.trailers().wire()};
}

void ClientStream::write_data(net::OutputQueue& output, std::string_view head,
                              std::size_t size_bytes) {
  sent_bytes_ += size_bytes;
  ends_at_ = connection_.written_bytes();
  // The frame's length is already written; the reset that follows tells the server.
  if (!queue_.move_to(output, head, size_bytes)) {
    give_up(Error(Errc::TruncatedBody, "request: a file"));
  }
  body_.drained();
  connection_.note_unsent(*this);
  note_progress();
  tell_tunnel();  // it may have waited for room
}

bool ClientStream::is_all_sent() const noexcept {
  const bool is_waiting = content_state_ != Content::Over && content_state_ != Content::Tunnel;
  return !is_waiting && has_sent_queue();
}

bool ClientStream::is_starved() const noexcept {
  return content_state_ == Content::Sending && has_sent_queue();
}

bool ClientStream::has_sent_queue() const noexcept {
  return queue_.empty() && ends_at_ <= connection_.sent_bytes();
}

void ClientStream::stop_sending() {
  content_state_ = Content::Over;
  body_.reset();
}

// Tunnels -----------------------------------------------------------------------------------------

void ClientStream::start_tunnel(h2::Stream& stream) {
  stream_ = &stream;
  content_state_ = Content::Tunnel;
}

Result<SwitchedStream> ClientStream::take_stream(ExchangePointer self, Pool::Lease lease) {
  if (!is_accepted_) {
    self.reset();  // before the lease
    return Errc::Unsupported;
  }
  auto tunnel = std::make_unique<H2Tunnel>(*this, std::move(self), std::move(lease));
  tunnel_ = tunnel.get();
  return SwitchedStream{net::HeldStream(std::move(tunnel))};
}

void ClientStream::tell_tunnel() noexcept {
  if (tunnel_ != nullptr) connection_.call(*this);
}

std::string ClientStream::take_data() {
  std::string taken = std::exchange(received_, {});
  if (stream_ != nullptr) connection_.session().consume(*stream_, taken.size());
  note_progress();
  return taken;
}

std::optional<Error> ClientStream::end_of_data() const noexcept {
  if (failure_) return failure_;
  return is_whole_ ? std::optional(Error(Errc::None)) : std::nullopt;
}

bool ClientStream::has_room() const noexcept { return queue_.pressure_bytes() < tunnel_high_bytes; }

void ClientStream::send(std::string_view bytes) {
  if (stream_ == nullptr || bytes.empty()) return;
  queue_.append(bytes);
  connection_.session().resume_body(*stream_);
  connection_.settle_later();
}

void ClientStream::end_output() {
  if (stream_ == nullptr || content_state_ != Content::Tunnel) return;
  content_state_ = Content::Over;
  connection_.session().resume_body(*stream_);
  connection_.settle_later();
}

}  // namespace skua::client
