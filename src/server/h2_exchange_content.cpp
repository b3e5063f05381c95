// SPDX-License-Identifier: MIT
// The content of a response: of what made it, or as it is made, into the frames that the session
// asks for.
#include <algorithm>
#include <utility>

#include "base/later.hpp"
#include "net/append_file.hpp"
#include "server/h2_exchange.hpp"
#include "server/journal.hpp"
#include "server/resources.hpp"
#include "server/websocket_server.hpp"
#include "skua/body_writer.hpp"

namespace skua::server {

void H2Exchange::send_stream(const h2::ResponseHead& head,
                             std::shared_ptr<const BodyStream> stream) {
  h2::ResponseHead told = head;
  if (!is_bodiless(status_)) told.length_bytes = stream->length_bytes;
  // RFC 9110 §9.3.2, §6.4.1: these have no content, so nobody is asked to make it.
  if (request().head.method == Method::Head || is_bodiless(status_)) {
    is_content_ended_ = true;
    return session_->respond(*stream_, told, false);
  }
  session_->respond(*stream_, told, true);
  call_.start_stream(*this, std::move(stream));
  if (resources_.is_draining) drain();
  if (call_.is_stream_done()) end_stream();
}

void H2Exchange::end_stream() {
  has_failed_ = !call_.take_stream_end();
  is_content_ended_ = true;
  session_->resume_body(*stream_);
}

void H2Exchange::count(std::uint64_t size_bytes) {
  if (content_bytes_ == 0) {
    content_deadline_ = later(resources_.loop.now(), resources_.options.timeouts.write);
  }
  content_bytes_ += size_bytes;
  written_bytes_ += size_bytes;
}

void H2Exchange::call_writes(Body&& piece) {
  if (is_closed_) return;
  const std::uint64_t size_bytes = piece.size_bytes();
  content_.append_piece(std::move(piece));
  count(size_bytes);
  session_->resume_body(*stream_);
  owner_->settle_later();
}

bool H2Exchange::call_may_write() const noexcept {
  return content_.pressure_bytes() < resources_.options.limits.stream_bytes;
}

h2::BodyRead H2Exchange::read_body(std::size_t most_bytes) noexcept {
  if (socket_ != nullptr) return socket_->read_body(most_bytes);
  using State = h2::BodyRead::State;
  const std::size_t size_bytes =
      static_cast<std::size_t>(std::min<std::uint64_t>(most_bytes, content_bytes_));
  const bool is_all = is_content_ended_ && size_bytes == content_bytes_;
  if (!is_all) return {.bytes = size_bytes, .state = State::More};
  if (!has_failed_) {
    return {.bytes = size_bytes, .state = State::End, .trailers = call_.trailers_to_send().wire()};
  }
  return {.bytes = size_bytes, .state = size_bytes == 0 ? State::Failed : State::More};
}

void H2Exchange::write_body(net::OutputQueue& output, std::size_t size_bytes) {
  if (socket_ != nullptr) return socket_->write_body(output, size_bytes);
  content_deadline_ = later(resources_.loop.now(), resources_.options.timeouts.write);
  if (whole_.kind() != Body::Kind::None) {
    write_whole(output, size_bytes);
  } else {
    write_made(output, size_bytes);
  }
  if (record_ != nullptr) owner_->journal()->wrote(*record_, size_bytes);
}

void H2Exchange::write_whole(net::OutputQueue& output, std::size_t size_bytes) {
  const std::uint64_t done = written_bytes_ - content_bytes_;
  const FileRange* const range = whole_.file();
  content_bytes_ -= size_bytes;
  if (range != nullptr) {
    return write_piece(output, nullptr, range->file, range->offset + done, size_bytes);
  }
  write_piece(output, whole_.text().data() + done, -1, 0, size_bytes);
}

void H2Exchange::write_made(net::OutputQueue& output, std::size_t size_bytes) {
  content_bytes_ -= size_bytes;
  while (size_bytes != 0) {
    const net::Segment& front = content_.front();
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(size_bytes, front.size_bytes));
    write_piece(output, front.data, front.file, front.offset, count);
    content_.consume(count);
    size_bytes -= count;
  }
  // Half of the mark, so that a slow peer does not cost a resumption for every byte it takes.
  if (content_.pressure_bytes() <= resources_.options.limits.stream_bytes / 2) call_.may_write();
}

void H2Exchange::write_piece(net::OutputQueue& output, const char* data, int file,
                             std::uint64_t offset, std::size_t size_bytes) {
  if (file < 0) return output.append({data, size_bytes});
  if (net::append_file(output, file, offset, size_bytes) || has_failed_) return;
  // The frame's length is told already: it was filled up, and the peer is told.
  has_failed_ = true;
  session_->reset(*stream_, h2::ErrorCode::InternalError);
}

}  // namespace skua::server
