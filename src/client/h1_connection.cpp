// SPDX-License-Identifier: MIT
// A request goes into the output at once, its streamed content as it is made; the response is taken
// out of what was received by whoever waits for it. While that takes its time, nothing more is
// received.
#include "client/h1_connection.hpp"

#include <array>
#include <stdexcept>
#include <utility>

#include "client/timed_wait.hpp"
#include "h1/body_encoder.hpp"
#include "skua/field_lines.hpp"

namespace skua::client {
namespace {

constexpr std::size_t slices_per_send = 16;
constexpr std::size_t received_high_bytes = 256 * 1024;  // then the server has to wait
constexpr std::size_t kept_bytes = 16 * 1024;
constexpr std::uint64_t output_high_bytes = 256 * 1024;  // then whoever makes content has to wait

using Event = h1::ResponseEvent;

}  // namespace

H1Connection::H1Connection(loop::Loop& loop, Pool& pool, net::OutputQueue::Blocks& blocks,
                           std::unique_ptr<net::Stream> stream, const h1::ResponseLimits& limits)
    : loop_(loop),
      pool_(pool),
      stream_(std::move(stream)),
      output_(blocks),
      reader_(limits),
      progress_(loop.now()),
      settle_later_(loop::call_member<&H1Connection::settle>, this) {
  stream_->listen(*this);
  set_receiving(true);  // an idle connection hears when the server closes
}

H1Connection::~H1Connection() = default;

void H1Connection::close() {
  if (state_ == State::Closing) return;
  state_ = State::Closing;
  producer_.reset();
  settle_later_.cancel();
  changed_.wake_all();
  stream_->close();
}

// The request ------------------------------------------------------------------------------------

void H1Connection::send(H1Request request) {
  SKUA_ASSERT(state_ == State::Idle);
  state_ = State::Busy;
  progress_ = loop_.now();
  reader_.start(request.expected);
  framing_ = request.framing;
  content_ = std::move(request.content);
  is_content_over_ = framing_ == h1::BodyKind::None;
  output_.append(request.head);
  if (!is_content_over_ && !request.expects_continue) begin_content();
  flush();
}

void H1Connection::continue_now() {
  if (is_content_over_ || content_.kind() == Body::Kind::None) return;
  begin_content();
  flush();
}

void H1Connection::begin_content() {
  Body content = std::exchange(content_, Body());
  const std::shared_ptr<const BodyStream>* const stream = content.stream();
  if (stream == nullptr) {
    if (framing_ == h1::BodyKind::Chunked) {
      write(std::move(content));
      return end_content();
    }
    output_.append_piece(std::move(content));
    is_content_over_ = true;
    return;
  }
  content_ = content;  // keeps what the producer refers to
  left_bytes_ = (*stream)->length_bytes;
  writer_.emplace(static_cast<skua::detail::BodySink&>(*this));
  producer_.emplace((*stream)->produce(*writer_));
  producer_->start(
      [](void* self) noexcept {
        auto& connection = *static_cast<H1Connection*>(self);
        connection.loop_.defer(connection.settle_later_);
      },
      this);
  if (producer_->is_done()) end_content();
}

// What the producer has come to.
void H1Connection::end_content() {
  is_content_over_ = true;
  try {
    if (producer_) producer_->result();
    if (left_bytes_.value_or(0) != 0) throw Exception(Error(Errc::TruncatedBody, "request"));
  } catch (...) {
    exception_ = std::current_exception();
    changed_.wake_all();
    return;
  }
  if (framing_ != h1::BodyKind::Chunked) return;
  std::string last(h1::last_chunk_bytes(trailers_), '\0');
  h1::write_last_chunk(trailers_, last.data());
  output_.append(last);
}

void H1Connection::write(Body&& piece) {
  const std::uint64_t size = piece.size_bytes();
  if (size == 0 || state_ != State::Busy) return;
  if (left_bytes_) {
    if (size > *left_bytes_) throw Exception(Error(Errc::BodyTooLong, "request"));
    *left_bytes_ -= size;
    output_.append_piece(std::move(piece));
  } else {
    std::array<char, h1::chunk_header_bytes> header;
    const char* const end = h1::write_chunk_header(size, header.data());
    output_.append({header.data(), static_cast<std::size_t>(end - header.data())});
    output_.append_piece(std::move(piece));
    output_.append(h1::chunk_end);
  }
  loop_.defer(settle_later_);
}

void H1Connection::add_trailer(std::string_view name, std::string_view value) {
  FieldLines line;
  line.add(name, value);
  if (framing_ == h1::BodyKind::Chunked) trailers_.append(line.wire());
}

bool H1Connection::has_room() const noexcept {
  return output_.pressure_bytes() < output_high_bytes;
}

void H1Connection::wait(skua::detail::Waiter& waiter, std::coroutine_handle<> writer) {
  writers_.park(waiter, writer);
}

void H1Connection::settle() {
  if (producer_ && producer_->is_done() && !is_content_over_) end_content();
  flush();
}

void H1Connection::flush() {
  while (!output_.empty() && !is_sending_ && state_ == State::Busy && !send_failure_) {
    const net::Segment& front = output_.front();
    std::uint64_t wanted = 0;
    std::size_t taken = 0;
    if (front.file >= 0) {
      wanted = front.size_bytes;
      taken = stream_->send_file(front.file, front.offset, static_cast<std::size_t>(wanted));
    } else {
      std::array<net::Slice, slices_per_send> slices;
      const std::size_t count = output_.gather(slices);
      for (std::size_t i = 0; i < count; ++i) wanted += slices[i].size_bytes;
      taken = stream_->send(std::span(slices).first(count));
    }
    is_sending_ = taken < wanted;
    if (taken != 0) progress_ = loop_.now();
    output_.consume(taken);
  }
  if (has_room()) writers_.wake_all();
}

void H1Connection::on_sent(std::size_t count) {
  is_sending_ = false;
  progress_ = loop_.now();
  output_.consume(count);
  flush();
}

// The response may be there all the same: 413 to content that the server did not want to read.
void H1Connection::on_send_failed(Error error) {
  send_failure_ = error;
  producer_.reset();
  is_content_over_ = true;
  changed_.wake_all();
}

// The response -----------------------------------------------------------------------------------

Task<Result<h1::ResponseReader::Step>> H1Connection::next(Duration limit) {
  progress_ = loop_.now();
  while (true) {
    if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
    if (state_ == State::Closing) co_return Error(Errc::Closed);
    const std::string_view input = std::string_view(looked_at_).substr(used_bytes_);
    const h1::ResponseReader::Step step = reader_.read(input);
    used_bytes_ += step.consumed_bytes;
    if (step.event != Event::NeedMore) co_return conclude(step);
    looked_at_.clear();
    used_bytes_ = 0;
    if (!received_.empty()) {
      looked_at_.swap(received_);
      continue;
    }
    if (end_) {
      if (end_->code() != Errc::None) co_return *end_;
      const Result<void> ended = reader_.end_of_input();
      if (!ended) co_return send_failure_.value_or(ended.error());
      h1::ResponseReader::Step last;
      last.event = Event::Complete;
      co_return conclude(last);
    }
    set_receiving(true);
    const Duration left = limit - (loop_.now() - progress_);
    if (left <= Duration(0)) co_return Error(Errc::TimedOut);
    co_await TimedWait(loop_, changed_, left);
  }
}

Result<h1::ResponseReader::Step> H1Connection::conclude(h1::ResponseReader::Step step) {
  if (step.event == Event::Failed) {
    state_ = State::Over;
    return reader_.error();
  }
  if (step.event != Event::Complete) return step;
  const bool has_more = used_bytes_ != looked_at_.size() || !received_.empty();
  const bool can_go_on = reader_.can_be_reused() && is_all_sent() && !has_more && !end_;
  state_ = can_go_on ? State::Idle : State::Over;
  producer_.reset();
  writer_.reset();
  content_ = Body();
  trailers_.clear();
  left_bytes_.reset();
  looked_at_.clear();
  used_bytes_ = 0;
  if (looked_at_.capacity() > kept_bytes) std::string().swap(looked_at_);
  if (received_.capacity() > kept_bytes) std::string().swap(received_);
  return step;
}

void H1Connection::on_receive(std::span<char> bytes) {
  if (state_ == State::Idle) return close();  // nobody has asked for anything
  if (state_ != State::Busy) return;
  progress_ = loop_.now();
  received_.append(bytes.data(), bytes.size());
  if (received_.size() >= received_high_bytes) set_receiving(false);
  changed_.wake_all();
}

void H1Connection::on_receive_end(Error error) {
  is_receiving_ = false;
  end_ = error;
  if (state_ == State::Idle) return close();
  changed_.wake_all();
}

void H1Connection::on_closed() { const auto self = pool_.remove(*this); }

void H1Connection::set_receiving(bool wanted) {
  if (wanted == is_receiving_ || end_ || state_ == State::Closing) return;
  is_receiving_ = wanted;
  if (wanted) {
    stream_->start_receive();
  } else {
    stream_->stop_receive();
  }
}

}  // namespace skua::client
