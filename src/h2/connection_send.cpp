// SPDX-License-Identifier: MIT
// In: commands and content. Out: frames. Heads and control frames are written at once, content when
// there is room for it, the most urgent first.

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "h2/connection.hpp"

namespace skua::h2 {
namespace {

/// Larger heads are not sent: no peer would accept them.
constexpr std::size_t max_sent_head_bytes = 256 * 1024;
/// Longer frames would delay more urgent ones. With its head, such a frame fills one TLS record.
constexpr std::uint32_t max_sent_frame_bytes = 16 * 1024 - frame_header_bytes;

void put_setting(std::string& payload, Setting setting, std::uint32_t value) {
  char bytes[setting_bytes];
  bytes[0] = 0;
  bytes[1] = static_cast<char>(setting);
  write_number(bytes + 2, value);
  payload.append(bytes, sizeof bytes);
}

/// Ids of reset streams accumulate if the peer never sends on those streams again.
constexpr std::size_t max_reset_ids = 1024;
constexpr std::size_t begun_bits = 64;

constexpr bool is_of_client(std::uint32_t id) noexcept { return id % 2 == 1; }

}  // namespace

// Control frames ----------------------------------------------------------------------------------

void Connection::write_frame(FrameType type, std::uint8_t flags, std::uint32_t id,
                             std::string_view payload) {
  constexpr std::size_t short_bytes = 64;
  char bytes[frame_header_bytes + short_bytes];
  FrameHead{.length_bytes = static_cast<std::uint32_t>(payload.size()),
            .stream_id = id,
            .type = type,
            .flags = flags}
      .write(bytes);
  if (payload.size() > short_bytes) {
    events_.append({bytes, frame_header_bytes});
    return events_.append(payload);
  }
  payload.copy(bytes + frame_header_bytes, payload.size());
  events_.append({bytes, frame_header_bytes + payload.size()});
}

void Connection::write_settings(const Options& options) {
  std::string payload;
  if (is_server()) {
    put_setting(payload, Setting::MaxConcurrentStreams, options.streams);
  } else {
    put_setting(payload, Setting::EnablePush, 0);
  }
  put_setting(payload, Setting::InitialWindowSize, options.stream_window_bytes);
  put_setting(payload, Setting::MaxFrameSize, options.frame_bytes);
  put_setting(
      payload, Setting::MaxHeaderListSize,
      static_cast<std::uint32_t>(std::min<std::size_t>(options.head.list_bytes, 0xffff'ffffU)));
  put_setting(payload, Setting::NoRfc7540Priorities, 1);
  if (options.allows_extended_connect) put_setting(payload, Setting::EnableConnectProtocol, 1);
  write_frame(FrameType::Settings, 0, 0, payload);
  // SETTINGS do not apply to the connection's window. RFC 9113 §6.9.2
  if (options.connection_window_bytes > receive_window_) {
    write_window_update(
        0, static_cast<std::uint32_t>(options.connection_window_bytes - first_window_bytes));
    receive_window_ = options.connection_window_bytes;
  }
}

void Connection::write_reset(std::uint32_t id, ErrorCode code) {
  char number[4];
  write_number(number, static_cast<std::uint32_t>(code));
  write_frame(FrameType::RstStream, 0, id, {number, sizeof number});
}

void Connection::write_window_update(std::uint32_t id, std::uint32_t bytes) {
  char number[4];
  write_number(number, bytes);
  write_frame(FrameType::WindowUpdate, 0, id, {number, sizeof number});
}

void Connection::write_goaway(std::uint32_t last_id, ErrorCode code, std::string_view reason) {
  std::string payload(8, '\0');
  write_number(payload.data(), last_id);
  write_number(payload.data() + 4, static_cast<std::uint32_t>(code));
  write_frame(FrameType::Goaway, 0, 0, payload.append(reason));
}

void Connection::consume(Stream& stream, std::size_t bytes) {
  if (stream.is_peer_done() || !takes_input()) return;
  stream.consumed_bytes_ += static_cast<std::uint32_t>(bytes);
  // A frame for each piece would cost both sides more than waiting does.
  if (stream.consumed_bytes_ < stream.window_bytes_ / 2) return;
  widen(stream);
  stream.receive_window_ += stream.consumed_bytes_;
  write_window_update(stream.id_, std::exchange(stream.consumed_bytes_, 0));
}

/// Doubles a window that may not cover the path: half of it was consumed within two round trips.
void Connection::widen(Stream& stream) noexcept {
  const Duration taken_in = now_ - std::exchange(stream.given_back_at_, now_);
  if (taken_in >= 2 * round_trip_) return;
  const std::uint32_t room = static_cast<std::uint32_t>(max_window_bytes) - stream.window_bytes_;
  const std::uint32_t more =
      std::min({stream.window_bytes_, options_.window_growth_bytes - grown_bytes_, room});
  stream.window_bytes_ += more;
  stream.consumed_bytes_ += more;
  grown_bytes_ += more;
}

// Heads -------------------------------------------------------------------------------------------

/// Writes a field section in as many frames as needed. A section that was begun must be finished,
/// or the peer's HPACK table would no longer match ours.
template <class WriteFields>
void Connection::write_block(Stream& stream, bool is_end, const WriteFields& write_fields) {
  std::string& block = workspace_.block;
  try {
    block.assign(frame_header_bytes, '\0');
    encoder_.start(block);
    write_fields(block);
    FrameType type = FrameType::Headers;
    std::uint8_t flags = is_end ? frame_flags::end_stream : 0;
    std::size_t begin = 0;  // of the next frame's head, which overwrites bytes already sent
    while (true) {
      const std::size_t left = block.size() - begin - frame_header_bytes;
      const auto size = static_cast<std::uint32_t>(std::min<std::size_t>(left, sent_frame_bytes_));
      if (size == left) flags |= frame_flags::end_headers;
      FrameHead{.length_bytes = size, .stream_id = stream.id_, .type = type, .flags = flags}.write(
          block.data() + begin);
      events_.append(std::string_view(block).substr(begin, frame_header_bytes + size));
      if (size == left) break;
      begin += size;
      type = FrameType::Continuation;
      flags = 0;
    }
    if (block.capacity() > max_sent_frame_bytes) std::string().swap(block);
  } catch (...) {
    return break_off();
  }
  guard_.sent_frame();
}

void Connection::respond(Stream& stream, const ResponseHead& head, bool has_body) {
  if (stream.is_closed() || !takes_input()) return;
  SKUA_ASSERT(!stream.has_response_);
  stream.has_response_ = true;
  stream.is_tunnel_ =
      stream.request_.head.method == Method::Connect && code(head.status) / 100 == 2;
  if (head.fields != nullptr && head.fields->wire().size() > max_sent_head_bytes) {
    return reset_stream(stream, ErrorCode::InternalError);
  }
  write_block(stream, !has_body,
              [&](std::string& block) { write_response(encoder_, head, block); });
  if (has_body) return make_ready(stream);
  stream.content_ = Stream::Content::Ended;
  due_.push_back(stream);
}

void Connection::inform(Stream& stream, Status status, const FieldLines& fields) {
  if (stream.is_closed() || stream.has_response_ || !takes_input()) return;
  // RFC 9113 §8.6: HTTP/2 has no 101.
  SKUA_ASSERT(code(status) / 100 == 1 && status != Status::SwitchingProtocols);
  write_block(stream, false, [&](std::string& block) {
    write_response(encoder_, {.status = status, .fields = &fields}, block);
  });
}

Stream* Connection::request(const RequestLines& head, bool has_body, void* context) {
  if (room() == 0) return nullptr;
  highest_id_ += highest_id_ == 0 ? 1 : 2;
  Stream& stream = open_stream(highest_id_);
  stream.context = context;
  stream.is_told_ = true;
  stream.is_head_request_ = head.method == Method::Head;
  stream.is_tunnel_ = !head.protocol.empty();
  // Concurrent uploads share the bandwidth.
  stream.priority_.is_incremental = true;
  if (head.fields.size() > max_sent_head_bytes) {
    stream.reset_for_ = Errc::HeadTooLong;
    close_stream(stream, ErrorCode::Cancel);
    return &stream;
  }
  write_block(stream, !has_body, [&](std::string& block) { write_request(encoder_, head, block); });
  if (has_body) {
    make_ready(stream);
  } else {
    stream.content_ = Stream::Content::Ended;
    stream.state_ = Stream::State::HalfClosedLocal;
  }
  return &stream;
}

// Content -----------------------------------------------------------------------------------------

/// A stream that was blocked keeps its turn.
void Connection::make_ready(Stream& stream) noexcept {
  if (std::exchange(stream.content_, Stream::Content::Ready) == Stream::Content::Blocked) {
    stream.unlink();
  } else {
    stream.turn_ = ++turns_;
    stream.turn_bytes_ = 0;
  }
  const unsigned urgency = stream.priority_.urgency;
  ready_[urgency].push_back(stream);
  ready_mask_ |= static_cast<std::uint8_t>(1U << urgency);
}

void Connection::leave_ready(Stream& stream, Stream::Content next) noexcept {
  const Stream::Content was = std::exchange(stream.content_, next);
  if (was != Stream::Content::Ready && was != Stream::Content::Blocked) return;
  stream.unlink();
  const unsigned urgency = stream.priority_.urgency;
  if (ready_[urgency].empty()) ready_mask_ &= static_cast<std::uint8_t>(~(1U << urgency));
  if (next != Stream::Content::Blocked) return;
  blocked_.insert(stream, [&](const Stream& other) { return other.turn_ > stream.turn_; });
}

/// Ends the turn of an incremental stream that has sent: a frame, or pieces of as many bytes if the
/// connection's window came in pieces. Otherwise the streams that happen to be next when the window
/// is nearly used up would get little for their turns, again and again.
void Connection::take_turns(Stream& stream, std::size_t sent_bytes) noexcept {
  stream.turn_bytes_ += static_cast<std::uint32_t>(sent_bytes);
  if (send_window_ <= 0 && stream.turn_bytes_ < max_data_bytes()) return;
  stream.unlink();
  stream.turn_ = ++turns_;
  stream.turn_bytes_ = 0;
  ready_[stream.priority_.urgency].push_back(stream);
}

void Connection::reprioritize(Stream& stream, Priority priority) noexcept {
  const bool is_ready = stream.content_ == Stream::Content::Ready;
  if (is_ready) leave_ready(stream, Stream::Content::None);
  stream.priority_ = priority;
  if (is_ready) make_ready(stream);
}

void Connection::resume_body(Stream& stream) noexcept {
  const bool is_waiting = stream.content_ == Stream::Content::Waiting;
  if (is_waiting || stream.content_ == Stream::Content::Blocked) make_ready(stream);
}

std::size_t Connection::write(std::size_t max_bytes) {
  std::size_t written = 0;
  unsent_id_ = highest_id_ + 1;
  try {
    report_closed_streams();
    while (written < max_bytes && ready_mask_ != 0 && takes_input()) {
      const auto urgency = static_cast<unsigned>(std::countr_zero(ready_mask_));
      written += write_data(ready_[urgency].front());
      report_closed_streams();
    }
    if (guard_.is_over_mark()) end_abuse();
    if (!is_server() && is_over()) lose(connection_error());
  } catch (...) {
    break_off();
  }
  return written;
}

/// Returns how much content the windows allow the stream.
std::size_t Connection::window_of(const Stream& stream) const noexcept {
  return static_cast<std::size_t>(
      std::max<std::int64_t>(std::min(send_window_, stream.send_window_), 0));
}

std::size_t Connection::max_data_bytes() const noexcept {
  return std::min(sent_frame_bytes_, max_sent_frame_bytes);
}

/// Notes a DATA frame that is on its way.
void Connection::note_data(Stream& stream, std::size_t bytes) noexcept {
  const std::size_t most = std::min(window_of(stream), max_data_bytes());
  guard_.sent_data(bytes, most != 0 && bytes == most && most < max_sent_frame_bytes);
  guard_.sent_frame();
  send_window_ -= static_cast<std::int64_t>(bytes);
  stream.send_window_ -= static_cast<std::int64_t>(bytes);
}

SentNow Connection::send_now(Stream& stream, std::string_view content) {
  SentNow sent;
  const bool is_next =
      stream.content_ == Stream::Content::Waiting || stream.content_ == Stream::Content::Ready;
  const bool has_more_urgent = (ready_mask_ & ((1U << stream.priority_.urgency) - 1)) != 0;
  if (!is_next || has_more_urgent || stream.is_closed() || !takes_input()) return sent;

  constexpr std::size_t max_frames = Events::max_texts_now / 2;
  const std::size_t frame_bytes = max_data_bytes();
  content = content.substr(0, std::min(window_of(stream), max_frames * frame_bytes));
  std::array<char, max_frames * frame_header_bytes> heads;
  std::array<std::string_view, 2 * max_frames> texts;
  std::size_t count = 0;
  for (; !content.empty(); content.remove_prefix(texts[count - 1].size())) {
    char* const head = heads.data() + count / 2 * frame_header_bytes;
    const std::string_view piece = content.substr(0, frame_bytes);
    FrameHead{.length_bytes = static_cast<std::uint32_t>(piece.size()),
              .stream_id = stream.id_,
              .type = FrameType::Data}
        .write(head);
    texts[count++] = {head, frame_header_bytes};
    texts[count++] = piece;
  }
  try {
    if (count != 0) sent.sent_bytes = events_.send_now({texts.data(), count});
    std::size_t left = sent.sent_bytes;
    for (std::size_t i = 0; left != 0; i += 2) {
      sent.head_bytes += frame_header_bytes;
      sent.content_bytes += texts[i + 1].size();
      note_data(stream, texts[i + 1].size());
      for (std::string_view text : {texts[i], texts[i + 1]}) {
        const std::size_t of_text = std::min(left, text.size());
        left -= of_text;
        text.remove_prefix(of_text);
        if (!text.empty()) events_.append(text);
        sent.appended_bytes = text.size();
      }
    }
  } catch (...) {
    break_off();
  }
  return sent;
}

/// Writes one frame of the stream's content and updates the stream. Returns the bytes written.
std::size_t Connection::write_data(Stream& stream) {
  const std::size_t window = window_of(stream);
  const std::size_t most = std::min(window, max_data_bytes());
  const BodyRead read = events_.read_body(stream, most);
  SKUA_ASSERT(read.bytes <= most);
  if (stream.is_closed()) return 0;  // by read_body
  const bool is_end = read.state == BodyRead::State::End;
  if (read.state == BodyRead::State::Failed) {
    stream.reset_for_ = Errc::Cancelled;
    reset_stream(stream, read.failed_with);
    return 0;
  }
  if (read.bytes == 0 && !is_end) {
    leave_ready(stream, window == 0 ? Stream::Content::Blocked : Stream::Content::Waiting);
    return 0;
  }

  std::size_t written = 0;
  if (read.bytes != 0 || read.trailers.empty()) {
    const bool ends_here = is_end && read.trailers.empty();
    char head[frame_header_bytes];
    FrameHead{.length_bytes = static_cast<std::uint32_t>(read.bytes),
              .stream_id = stream.id_,
              .type = FrameType::Data,
              .flags = ends_here ? frame_flags::end_stream : std::uint8_t{0}}
        .write(head);
    if (read.bytes != 0) {
      events_.append_data(stream, {head, sizeof head}, read.bytes);
    } else {
      events_.append({head, sizeof head});
    }
    written = sizeof head + read.bytes;
    note_data(stream, read.bytes);
    if (stream.is_closed()) return written;  // reading its content failed
  }
  if (is_end) {
    leave_ready(stream, Stream::Content::Ended);
    if (!read.trailers.empty()) {
      write_block(stream, true,
                  [&](std::string& block) { write_lines(encoder_, read.trailers, block); });
    }
    due_.push_back(stream);
  } else if (stream.priority_.is_incremental) {
    take_turns(stream, read.bytes);
  }
  return written;
}

/// Handles a stream for which END_STREAM was written.
void Connection::end_sending(Stream& stream) {
  if (is_server()) guard_.responded();
  if (stream.is_peer_done()) return close_stream(stream, ErrorCode::NoError);
  stream.state_ = Stream::State::HalfClosedLocal;
  // The other half of a tunnel may continue: RFC 9113 §8.5.
  if (is_server() && !stream.is_tunnel_ && !stream.is_released_) {
    events_.on_answered_early(stream);
  }
}

// Streams -----------------------------------------------------------------------------------------

void Stream::open(std::uint32_t id) noexcept {
  id_ = id;
  context = nullptr;
  length_bytes_.reset();
  framed_bytes_ = 0;
  consumed_bytes_ = interim_bytes_ = 0;
  closed_with_ = ErrorCode::NoError;
  reset_for_ = Errc::None;
  interim_count_ = 0;
  state_ = State::Open;
  content_ = Content::None;
  turn_ = turn_bytes_ = 0;
  priority_ = {};
  has_received_all_ = has_response_ = has_begun_ = false;
  is_told_ = is_close_told_ = is_released_ = false;
  is_tunnel_ = is_head_request_ = false;
}

void Connection::forget_head(Stream& stream) noexcept {
  RequestHead& request = stream.request_;
  http::Head nothing;
  nothing.method = request.head.method;
  nothing.major_version = request.head.major_version;
  nothing.minor_version = request.head.minor_version;
  request.head = nothing;
  request.host = request.path_and_query = {};
  if (!request.protocol.empty()) request.protocol = "forgotten";
  stream.head_.forget();
}

void Stream::let_go() noexcept {
  unlink();
  section_.reset();
  head_.shrink();
}

std::size_t Connection::place_of(std::uint32_t id) const noexcept {
  const auto found =
      std::ranges::lower_bound(streams_, id, {}, [](const Stream* stream) { return stream->id_; });
  return static_cast<std::size_t>(found - streams_.begin());
}

Stream* Connection::find_open(std::uint32_t id) const noexcept {
  if (streams_.empty() || id > streams_.back()->id_) return nullptr;
  Stream* stream = streams_.back();  // most frames belong to it
  if (stream->id_ != id) stream = streams_[place_of(id)];
  return stream->id_ != id || stream->is_closed() ? nullptr : stream;
}

/// Ids only grow, so the last one is the highest.
Stream& Connection::open_stream(std::uint32_t id) {
  streams_.reserve(streams_.size() + 1);
  streams_.push_back(workspace_.streams.take().release());
  Stream& stream = *streams_.back();
  stream.open(id);
  stream.send_window_ = first_send_window_;
  stream.receive_window_ = first_receive_window_;
  stream.window_bytes_ = options_.stream_window_bytes;
  stream.given_back_at_ = now_;
  ++open_count_;
  return stream;
}

/// Reports whether an id has neither been used nor skipped. Includes even ids: servers do not push.
bool Connection::is_idle(std::uint32_t id) const noexcept {
  return !is_of_client(id) || id > highest_id_;
}

/// Also returns true for ids that are too old to know.
bool Connection::was_begun(std::uint32_t id) const noexcept {
  const std::uint32_t ago = (highest_id_ - id) / 2;
  return ago >= begun_bits || (begun_ >> ago & 1U) != 0;
}

bool Connection::was_reset_by_us(std::uint32_t id) const noexcept {
  return std::ranges::find(reset_ids_, id) != reset_ids_.end();
}

void Connection::remember_reset(std::uint32_t id) {
  if (reset_ids_.size() == max_reset_ids) reset_ids_.erase(reset_ids_.begin());
  reset_ids_.push_back(id);
}

void Connection::forget_reset(std::uint32_t id) noexcept {
  const auto found = std::ranges::find(reset_ids_, id);
  if (found != reset_ids_.end()) reset_ids_.erase(found);
}

void Connection::reset_stream(Stream& stream, ErrorCode code) {
  if (stream.is_closed()) return;
  if (!stream.is_peer_done()) remember_reset(stream.id_);
  write_reset(stream.id_, code);
  close_stream(stream, code);
}

/// Resets a stream for an error of the peer, and charges for it.
void Connection::reset_for_error(Stream& stream, ErrorCode code, Error error) {
  charge(Abuse::ProvokedReset);
  reset_stream(stream, code);
  if (!is_server()) fail(stream, {.error = error});
}

void Connection::close_stream(Stream& stream, ErrorCode code) noexcept {
  leave_ready(stream, Stream::Content::None);
  stream.unlink();
  stream.state_ = Stream::State::Closed;
  stream.closed_with_ = code;
  grown_bytes_ -= stream.window_bytes_ - options_.stream_window_bytes;
  --open_count_;
  due_.push_back(stream);
  if (!is_server()) events_.on_room();
}

void Connection::fail(Stream& stream, StreamFailure failure) {
  if (stream.is_released_ || stream.has_received_all_) return;
  stream.is_released_ = true;
  if (stream.is_closed() && !stream.is_linked()) due_.push_back(stream);
  failure.has_begun = stream.has_begun_;
  events_.on_failure(stream, failure);
}

/// Reports the ends of streams. Consumers may end other streams meanwhile; those come next.
void Connection::report_closed_streams() {
  while (!due_.empty()) {
    Stream& stream = due_.front();
    stream.unlink();
    if (!stream.is_closed()) {
      end_sending(stream);
    } else if (stream.is_released_ || !stream.is_told_) {
      recycle(stream);
    } else if (!is_server()) {
      if (stream.has_received_all_) continue;  // kept until it is released
      fail(stream, {.error = Error(stream.reset_for_, "request")});
      recycle(stream);
    } else if (!std::exchange(stream.is_close_told_, true)) {
      events_.on_closed(stream, stream.closed_with_);
    }
  }
}

void Connection::recycle(Stream& stream) noexcept {
  const bool is_first = streams_.front() == &stream;
  const std::size_t place = is_first ? 0 : place_of(stream.id_);
  streams_.erase(streams_.begin() + static_cast<std::ptrdiff_t>(place));
  stream.let_go();
  workspace_.streams.give_back(std::unique_ptr<Stream>(&stream));
}

void Connection::reset(Stream& stream, ErrorCode code) {
  if (takes_input()) reset_stream(stream, code);
}

void Connection::release(Stream& stream) noexcept {
  SKUA_ASSERT(!stream.is_released_);
  stream.is_released_ = true;
  if (!stream.is_closed()) {
    try {
      reset_stream(stream, ErrorCode::Cancel);
    } catch (...) {
      break_off();
    }
  } else if (!stream.is_linked()) {
    due_.push_back(stream);
  }
}

}  // namespace skua::h2
