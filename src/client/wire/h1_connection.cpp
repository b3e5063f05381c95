// SPDX-License-Identifier: MIT
// A request goes into the output at once, streamed content as it is produced. The response is
// parsed from the received bytes when the caller reads it; a slow reader pauses receiving.
#include "client/wire/h1_connection.hpp"

#include <utility>

#include "base/ascii.hpp"
#include "body/outgoing_body.hpp"
#include "h1/request_writer.hpp"
#include "http/message/field_lines_access.hpp"

namespace skua::client {
namespace {

constexpr std::size_t received_high_bytes = 128 * 1024;  // then the server has to wait
constexpr std::uint64_t output_high_bytes = 64 * 1024;   // then the content's producer has to wait

using Event = h1::ResponseEvent;

// RFC 9112 §9.6: a client that sends `close` sends no further request.
bool says_close(const FieldLines& fields) noexcept {
  using Lines = http::FieldLinesAccess;
  constexpr http::FieldName known = http::FieldName::Connection;
  for (std::size_t nth = 0; const auto value = Lines::find(fields, known, "Connection", nth);
       ++nth) {
    std::string_view list = *value;
    while (!list.empty()) {
      if (ascii::equals_ignoring_case(ascii::take_list_element(list), "close")) return true;
    }
  }
  return false;
}

}  // namespace

H1Connection::H1Connection(std::shared_ptr<void> owner, loop::Loop& loop, Pool& pool,
                           net::OutputQueue::Blocks& blocks, SpareBuffers& buffers,
                           net::HeldStream stream, const h1::ResponseLimits& limits)
    : owner_(std::move(owner)),
      pool_(pool),
      buffers_(buffers),
      pump_(static_cast<net::StreamPumpUser&>(*this), loop, blocks),
      reader_(limits),
      progress_(loop.now()) {
  pump_.take(std::move(stream));  // nothing is thrown from here on
  set_receiving(true);            // to notice when the server closes an idle connection
}

H1Connection::~H1Connection() = default;

void H1Connection::close() {
  if (pump_.state() != net::StreamPump::State::Closed) return pump_.close();
  const auto self = pool_.remove(*this);  // its stream was taken away
}

void H1Connection::on_closing() noexcept {
  stop_content();
  changed_.wake_all();
}

// The request ------------------------------------------------------------------------------------

Result<ExchangePointer> H1Connection::begin(const OutgoingRequest& request) {
  if (state_ != State::Idle || !is_usable()) return Errc::Closed;
  std::string& text = buffers_.head();
  const h1::RequestHead head = head_of(request);
  const Result<void> written = h1::append_request_head(head, request.url, request.fields, text);
  if (!written) return written.error();
  if (request.shown != nullptr) request.shown->assign(text, 0, text.size() - 2);

  state_ = State::Busy;
  ExchangePointer begun(this);  // ended if memory runs out
  progress_ = pump_.loop().now();
  h1::ResponseTo expected;
  expected.method = request.method;
  expected.offers_upgrade =
      http::FieldLinesAccess::has(request.fields, http::FieldName::Upgrade, "Upgrade");
  reader_.start(expected);
  pump_.stream().receive_briefly(true);
  head_bytes_ = text.size();
  sent_bytes_ = 0;
  closes_ = says_close(request.fields);
  is_chunked_ = head.body == h1::BodyField::Chunked;
  const bool has_content =
      head.body != h1::BodyField::None && (is_chunked_ || head.length_bytes != 0);
  pump_.output().append(text);
  if (has_content) {
    content_ = request.content;
    content_state_ = Content::Waiting;
    if (!request.expects_continue) begin_content();
  }
  flush();
  return begun;
}

void H1Connection::continue_now() {
  if (content_state_ != Content::Waiting) return;
  begin_content();
  flush();
}

void H1Connection::begin_content() {
  content_state_ = Content::Sending;
  body_.start(*this, std::exchange(content_, Body()), output_high_bytes);
  if (body_.is_made()) end_content();
}

void H1Connection::end_content() {
  content_state_ = Content::Over;
  exception_ = body_.end();
  if (exception_ == nullptr) {
    if (is_chunked_) body::append_last_chunk(pump_.output(), body_.trailers());
    return;
  }
  send_failure_ = Error(Errc::Cancelled, "request");  // the server is waiting for the rest
  changed_.wake_all();
}

void H1Connection::stop_content() noexcept {
  body_.reset();
  content_ = Body();
  content_state_ = Content::Over;
}

void H1Connection::write_content(Body&& piece) {
  if (send_failure_) return;
  if (is_chunked_) {
    body::append_chunk(pump_.output(), std::move(piece));
  } else {
    pump_.output().append_piece(std::move(piece));
  }
  pump_.settle_later();
}

void H1Connection::write_content_text(std::string_view text) {
  if (send_failure_) return;
  const body::TextToSend sending(text, is_chunked_);
  const std::size_t sent = sending.is_long() ? pump_.send_now(sending.slices()) : 0;
  if (sent != 0) on_sent(sent);
  sending.append_rest(pump_.output(), sent);
  pump_.settle_later();
}

void H1Connection::settle() {
  if (body_.is_made()) end_content();
  flush();
}

// Ends both directions.
void H1Connection::fail(Error error) noexcept {
  pump_.cut_off();
  send_failure_ = end_ = error;
  changed_.wake_all();
}

void H1Connection::flush() {
  if (send_failure_ || state_ != State::Busy) return;
  pump_.flush();
  body_.drained();
  changed_.wake_all();
}

void H1Connection::on_sent(std::uint64_t count) {
  progress_ = pump_.loop().now();
  sent_bytes_ += count;
}

// The response may still arrive, e.g. 413 for content that the server refused to read.
void H1Connection::on_send_failed(Error error) {
  send_failure_ = error;
  stop_content();
  changed_.wake_all();
}

// The response -----------------------------------------------------------------------------------

Result<Exchange::Step> H1Connection::read() {
  is_awaited_ = false;
  while (true) {
    if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
    if (!pump_.is_open()) return Errc::Closed;
    Result<Step> step = next_step();
    if (!step || step->event != Event::NeedMore) return step;
    looked_at_.clear();
    used_bytes_ = 0;
    if (!received_.empty()) {
      looked_at_.swap(received_);
      continue;
    }
    if (end_) return end_of_input(*end_);
    // A file was truncated: the server waits for the rest, so its response would never come.
    if (send_failure_ && send_failure_->code() == Errc::TruncatedBody) return *send_failure_;
    set_receiving(true);
    is_awaited_ = true;
    return step;
  }
}

Result<Exchange::Step> H1Connection::next_step() {
  h1::ResponseReader::Step step{};
  if (passed_) {
    step = *passed_;
    passed_.reset();
  } else {
    step = reader_.read(std::string_view(looked_at_).substr(used_bytes_));
    used_bytes_ += step.consumed_bytes;
  }
  if (step.event == Event::Failed) {
    state_ = State::Over;
    return reader_.error();
  }
  if (step.event == Event::Head) pump_.stream().receive_briefly(false);
  if (step.event == Event::Complete) complete();
  return Step{step.event, step.data};
}

Result<Exchange::Step> H1Connection::end_of_input(Error end) {
  state_ = State::Over;
  if (end.code() != Errc::None) return end;
  const Result<void> ended = reader_.end_of_input();
  if (!ended) return send_failure_.value_or(ended.error());
  return Step{Event::Complete, {}};
}

void H1Connection::complete() noexcept {
  if (state_ != State::Busy) return;
  const bool has_more = used_bytes_ != looked_at_.size() || !received_.empty();
  const bool can_go_on =
      reader_.can_be_reused() && is_all_sent() && !send_failure_ && !has_more && !end_ && !closes_;
  state_ = can_go_on ? State::Idle : State::Over;
}

Result<SwitchedStream> H1Connection::take_stream(ExchangePointer self, Pool::Lease lease) {
  if (!is_all_sent() || !pump_.is_open()) {
    self.reset();  // before the lease
    return Errc::Unsupported;
  }
  looked_at_.erase(0, used_bytes_);
  looked_at_.append(received_);
  pump_.set_receiving(false);
  SwitchedStream taken{net::HeldStream(pump_.give_up()), std::move(looked_at_), end_};
  self.reset();
  lease.release();
  return taken;
}

void H1Connection::end() noexcept {
  if (state_ == State::Busy) state_ = State::Over;
  stop_content();
  exception_ = nullptr;
  taker_ = nullptr;
  passed_.reset();
  is_awaited_ = false;
  used_bytes_ = 0;
  buffers_.received.give(looked_at_);
  buffers_.received.give(received_);
  if (state_ == State::Idle) set_receiving(true);
}

void H1Connection::on_receive(std::span<char> bytes) {
  if (state_ == State::Idle) {  // unsolicited data
    state_ = State::Over;
    if (!is_leased()) close();
    return;
  }
  if (state_ != State::Busy || end_) return;
  progress_ = pump_.loop().now();
  std::string_view input(bytes.data(), bytes.size());
  if (taker_ != nullptr && is_awaited_) {
    input = pass_on(input);
    if (is_awaited_) return;
  }
  buffers_.received.append(received_, input);
  if (looked_at_.size() + received_.size() >= received_high_bytes) set_receiving(false);
  changed_.wake_all();
}

// Content goes to the taker, anything else to read(). Returns the rest of the input.
std::string_view H1Connection::pass_on(std::string_view input) {
  using Taken = skua::detail::ContentTaker::Taken;
  while (true) {
    h1::ResponseReader::Step step = reader_.read(input);
    input.remove_prefix(step.consumed_bytes);
    if (step.event == Event::NeedMore) return {};
    const Taken taken = step.event == Event::Data ? taker_->take(step.data) : Taken::Nothing;
    if (taken == Taken::All) continue;
    is_awaited_ = false;
    if (taken == Taken::Last) {
      step.data = {};
      set_receiving(false);
    } else if (!step.data.empty()) {
      buffers_.received.append(looked_at_, step.data);
      used_bytes_ = looked_at_.size();
      step.data = looked_at_;
    }
    passed_ = step;
    return input;
  }
}

void H1Connection::pause() noexcept {
  if (state_ != State::Busy || end_) return;
  set_receiving(false);
}

void H1Connection::on_receive_end(Error error) {
  end_ = error;
  if (!is_leased()) return close();
  changed_.wake_all();
}

void H1Connection::on_closed() { const auto self = pool_.remove(*this); }

void H1Connection::set_receiving(bool wanted) {
  // Until now the server was waiting for us.
  if (pump_.set_receiving(wanted) && wanted) progress_ = pump_.loop().now();
}

}  // namespace skua::client
