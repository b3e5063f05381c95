// SPDX-License-Identifier: MIT
// In: pieces from a producer. Out: the same pieces to the protocol that frames them. The one place
// that handles declared lengths, trailers, and backpressure.
#include "body/outgoing_body.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <string>
#include <utility>

#include "body/slow_peer.hpp"
#include "h1/message_writer.hpp"
#include "http/message/trailers.hpp"
#include "skua/error.hpp"

namespace skua::body {
namespace {

constexpr std::size_t copied_piece_bytes = 16 * 1024;

}  // namespace

// Allocators give memory for long pieces back to the system at once, which then has to zero it
// anew.
void Framer::write_content_text(std::string_view text) {
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), copied_piece_bytes))) {
    write_content(Body(text.substr(0, copied_piece_bytes)));
  }
}

void OutgoingBody::start(Framer& framer, Body&& content, std::uint64_t max_waiting_bytes) {
  framer_ = &framer;
  max_waiting_bytes_ = max_waiting_bytes;
  state_ = State::Making;
  try {
    if (content.kind() != Body::Kind::Stream) {
      if (content.size_bytes() != 0) framer.write_content(std::move(content));
      state_ = State::Made;
      return;
    }
    stream_ = *content.stream();
    left_bytes_ = stream_->length_bytes.value_or(0);
    producer_.emplace(stream_->produce(writer_));
    producer_->start(
        [](void* self) noexcept {
          auto& body = *static_cast<OutgoingBody*>(self);
          body.state_ = State::Made;
          body.framer_->content_ended();
        },
        this);
    if (producer_ && producer_->is_done()) state_ = State::Made;
  } catch (...) {  // `produce` may be a plain function that returns a task
    failure_ = std::current_exception();
    state_ = State::Made;
  }
}

std::exception_ptr OutgoingBody::end() noexcept {
  state_ = State::Ended;
  if (failure_ != nullptr) return std::exchange(failure_, nullptr);
  if (!producer_) return nullptr;
  try {
    producer_->result();
    if (left_bytes_ == 0) return nullptr;
    throw Exception(Error(Errc::TruncatedBody, "content"));
  } catch (const SlowPeer&) {
    state_ = State::Cut;
    return std::current_exception();
  } catch (...) {
    return std::current_exception();
  }
}

void OutgoingBody::stop() noexcept {
  producer_.reset();
  stream_.reset();
  failure_ = nullptr;
  state_ = State::Made;
}

// Wakes at half of the mark, so that a slow peer does not cost a resumption for each byte taken.
void OutgoingBody::wake_producer() noexcept {
  if (framer_->waiting_bytes() <= max_waiting_bytes_ / 2) writers_.wake_all();
}

void OutgoingBody::drop() noexcept {
  state_ = State::Ended;  // what destructors write now is discarded
  producer_.reset();
  stream_.reset();
  failure_ = nullptr;
  trailers_ = {};
  left_bytes_ = 0;
  state_ = State::Idle;
}

// Reports whether that much content is to be written.
bool OutgoingBody::takes(std::uint64_t size_bytes) {
  if (size_bytes == 0 || state_ != State::Making) return false;
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  if (!stream_->length_bytes) return true;
  if (size_bytes > left_bytes_) {
    throw Exception(Error(Errc::BodyTooLong, "more was written than the declared length"));
  }
  left_bytes_ -= size_bytes;
  return true;
}

void OutgoingBody::write(Body&& piece) {
  if (!takes(piece.size_bytes())) return;
  try {
    framer_->write_content(std::move(piece));
  } catch (const std::bad_alloc&) {
    failure_ = std::current_exception();  // a piece is lost, even if the producer goes on
    throw;
  }
}

void OutgoingBody::write_text(std::string_view text) {
  if (!takes(text.size())) return;
  try {
    framer_->write_content_text(text);
  } catch (const std::bad_alloc&) {
    failure_ = std::current_exception();
    throw;
  }
}

void OutgoingBody::add_trailer(std::string_view name, std::string_view value) {
  http::check_trailer(name);
  if (stream_ != nullptr && !stream_->length_bytes) trailers_.add(name, value);
}

bool OutgoingBody::has_room() const noexcept {
  // There is always room for one piece: a limit of zero must not block a producer forever.
  const std::uint64_t waiting_bytes = framer_->waiting_bytes();
  return waiting_bytes == 0 || waiting_bytes < max_waiting_bytes_;
}

void OutgoingBody::wait(detail::Waiter& waiter, std::coroutine_handle<> writer) {
  writers_.park(waiter, writer);
}

// In: content of unknown length. Out: HTTP/1.1 chunks.

void append_chunk(net::OutputQueue& output, Body&& piece) {
  std::array<char, h1::chunk_header_bytes> header;
  const char* const end = h1::write_chunk_header(piece.size_bytes(), header.data());
  output.append({header.data(), static_cast<std::size_t>(end - header.data())});
  output.append_piece(std::move(piece));
  output.append(h1::chunk_end);
}

TextToSend::TextToSend(std::string_view text, bool is_chunk) noexcept : text_bytes_(text.size()) {
  if (is_chunk) {
    const char* const end = h1::write_chunk_header(text.size(), header_.data());
    header_bytes_ = static_cast<std::size_t>(end - header_.data());
    add({header_.data(), header_bytes_});
  }
  add(text);
  if (is_chunk) add(h1::chunk_end);
}

void TextToSend::add(std::string_view part) noexcept {
  slices_[count_++] = {part.data(), part.size()};
}

void TextToSend::append_rest(net::OutputQueue& output, std::size_t sent_bytes) const {
  for (const net::Slice& slice : slices()) {
    const std::size_t sent = std::min(sent_bytes, slice.size_bytes);
    sent_bytes -= sent;
    output.append(std::string_view(slice.data, slice.size_bytes).substr(sent));
  }
}

void append_last_chunk(net::OutputQueue& output, const FieldLines& trailers) {
  std::string end(h1::last_chunk_bytes(trailers.wire()), '\0');
  h1::write_last_chunk(trailers.wire(), end.data());
  output.append(end);
}

}  // namespace skua::body
