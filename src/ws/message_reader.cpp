// SPDX-License-Identifier: MIT
// In: bytes from a peer. Out: messages and control frames. All errors end in fail(), and determine
// the close code. Text is validated as it arrives, so invalid text is reported before its frame is
// complete.
#include "ws/message_reader.hpp"

#include <algorithm>

#include "skua/bytes.hpp"
#include "ws/close_code.hpp"
#include "ws/deflate.hpp"
#include "ws/frame.hpp"

namespace skua::ws {
namespace {

// Buffers up to this size are kept for the next message, of the same input or of another reader.
// Smaller ones are cheap to allocate; this size the allocator would return to the system.
constexpr std::size_t kept_bytes = 128_KiB;
// The spare buffer is used only for at least 1/16 of its size.
constexpr std::size_t spare_bytes_per_byte = 16;
constexpr std::size_t inflate_room_bytes = 8_KiB;

std::string_view view(std::span<const char> bytes) noexcept { return {bytes.data(), bytes.size()}; }

constexpr Error too_long{Errc::MessageTooLong, "the message is too long"};
constexpr Error not_utf8{Errc::MalformedText, "the text is not UTF-8"};

// Returns the heap memory of a string; short ones are stored inline.
std::size_t heap_bytes(const std::string& text) noexcept {
  const std::size_t inside = std::string().capacity();
  return text.capacity() > inside ? text.capacity() + 1 : 0;
}

}  // namespace

MessageReader::MessageReader(Role role, std::size_t message_bytes) noexcept
    : message_bytes_(message_bytes), role_(role) {}

MessageReader::~MessageReader() = default;

MessageReader::Event MessageReader::next(std::span<char>& input) {
  payload_ = {};
  if (!is_in_message_) forget_message();
  while (true) {
    if (state_ == State::Failed) return Event::Failed;
    if (state_ == State::Closed) input = {};
    if (state_ == State::Header) {
      const auto is_whole = take_header(input);
      if (!is_whole) return fail(is_whole.error());
      if (!*is_whole) return need_more();
    }
    if (state_ != State::Payload) return need_more();
    const auto event = is_control(frame_opcode_) ? take_control(input) : take_data(input);
    if (!event) return fail(event.error());
    if (*event != Event::NeedMore) return *event;
    if (state_ == State::Payload) return need_more();
  }
}

const CloseReason& MessageReader::reason() const noexcept {
  static const CloseReason none;
  if (extra_ == nullptr) return none;
  return extra_->reason;
}

std::size_t MessageReader::memory_bytes() const noexcept {
  std::size_t bytes = heap_bytes(collected_);
  if (extra_ != nullptr) bytes += sizeof(Extra) + heap_bytes(extra_->reason.text);
  return bytes;
}

// Keeps no memory for the next message, since it may take long to arrive.
MessageReader::Event MessageReader::need_more() noexcept {
  if (!is_in_message_ && heap_bytes(collected_) != 0) give_back_memory();
  if (!is_in_message_ && state_ == State::Header && header_bytes_ == 0) extra_.reset();
  return Event::NeedMore;
}

void MessageReader::give_back_memory() noexcept {
  const bool is_better = spare_ != nullptr && collected_.capacity() <= kept_bytes &&
                         collected_.capacity() > spare_->capacity();
  if (is_better) collected_.swap(*spare_);
  std::string().swap(collected_);
}

// Reserves room for the rest of the frame as well, but at most for as much again as has arrived.
void MessageReader::collect(std::string_view piece) {
  const std::size_t needed = collected_.size() + piece.size();
  if (needed > collected_.capacity()) {
    const std::size_t wanted =
        needed + static_cast<std::size_t>(std::min<std::uint64_t>(left_bytes_, needed));
    if (spare_ != nullptr && spare_->capacity() >= wanted &&
        spare_->capacity() / spare_bytes_per_byte <= needed) {
      spare_->assign(collected_);
      collected_.swap(*spare_);
    } else {
      collected_.reserve(wanted);
    }
  }
  collected_ += piece;
}

void MessageReader::keep_payload() {
  if (payload_.data() == collected_.data()) return;
  collected_.assign(payload_);
  payload_ = collected_;
}

void MessageReader::forget_message() noexcept {
  collected_.clear();
  if (collected_.capacity() > kept_bytes) std::string().swap(collected_);
}

MessageReader::Extra& MessageReader::extra() {
  if (extra_ == nullptr) extra_ = std::make_unique<Extra>();
  return *extra_;
}

// Called when no more messages follow.
void MessageReader::end(State state) noexcept {
  state_ = state;
  is_in_message_ = false;
  payload_ = {};
  std::string().swap(collected_);
  if (inflater_ != nullptr) inflater_->abandon();
}

MessageReader::Event MessageReader::fail(Error error) {
  end(State::Failed);
  const std::string_view why = error.context().empty() ? message(error.code()) : error.context();
  extra().reason = {.code = close_code_for(error.code()), .text = std::string(why)};
  return Event::Failed;
}

// Returns whether the header is complete; if so, begins its frame.
Result<bool> MessageReader::take_header(std::span<char>& input) {
  std::string_view bytes = view(input);
  const std::size_t before = header_bytes_;
  if (before != 0) {
    std::array<char, longest_header_bytes>& header = extra().header;
    const std::size_t added = std::min(input.size(), header.size() - before);
    std::copy_n(input.begin(), added, header.begin() + static_cast<std::ptrdiff_t>(before));
    bytes = {header.data(), before + added};
  }
  FrameHeader header;
  std::size_t used = 0;
  // Errors in the first two bytes take precedence, however the input is split.
  if (bytes.size() >= 2) {
    const auto start = parse_frame_start(bytes[0], bytes[1], header);
    if (!start) return start.error();
    if (const auto allowed = check_start(header); !allowed) return allowed.error();
    const auto whole = parse_frame_rest(bytes, header);
    if (!whole) return whole.error();
    used = *whole;
  }
  if (used == 0) {
    if (before == 0 && !bytes.empty()) std::ranges::copy(bytes, extra().header.begin());
    header_bytes_ = static_cast<std::uint8_t>(bytes.size());
    input = {};
    return false;
  }
  header_bytes_ = 0;
  input = input.subspan(used - before);
  if (const auto begun = begin_frame(header); !begun) return begun.error();
  return true;
}

// Checks the first two bytes against the role and the state.
Result<void> MessageReader::check_start(const FrameHeader& header) const noexcept {
  // RFC 6455 §5.1
  if (header.is_masked != (role_ == Role::Server)) {
    return malformed_frame(header.is_masked ? "a frame from a server is masked"
                                            : "a frame from a client is not masked");
  }
  if (header.is_compressed && (inflater_ == nullptr || header.opcode == Opcode::Continuation)) {
    return malformed_frame(inflater_ == nullptr ? "a reserved bit is set"
                                                : "a continuation frame is marked as compressed");
  }
  if (is_control(header.opcode)) return {};
  // RFC 6455 §5.4
  if (header.opcode == Opcode::Continuation && !is_in_message_) {
    return malformed_frame("a continuation frame without a message");
  }
  if (header.opcode != Opcode::Continuation && is_in_message_) {
    return malformed_frame("a message begins inside another");
  }
  return {};
}

Result<void> MessageReader::begin_frame(const FrameHeader& header) {
  frame_opcode_ = header.opcode;
  is_masked_ = header.is_masked;
  is_final_ = header.is_final;
  key_ = header.key;
  mask_offset_ = 0;
  left_bytes_ = header.payload_bytes;
  state_ = State::Payload;
  if (is_control(header.opcode)) {
    control_bytes_ = static_cast<std::uint8_t>(header.payload_bytes);
    return {};
  }
  if (header.opcode != Opcode::Continuation) {
    message_opcode_ = header.opcode;
    is_compressed_ = header.is_compressed;
    utf8_.reset();
  }
  is_in_message_ = true;
  // The decompressed size is not known in advance.
  const bool fits = is_compressed_ || left_bytes_ <= message_bytes_ - collected_.size();
  return fits ? Result<void>() : too_long;
}

std::span<char> MessageReader::take_piece(std::span<char>& input) noexcept {
  const std::size_t size =
      static_cast<std::size_t>(std::min<std::uint64_t>(left_bytes_, input.size()));
  const std::span<char> piece = input.first(size);
  input = input.subspan(size);
  left_bytes_ -= size;
  if (is_masked_) {
    mask(piece, key_, mask_offset_);
    mask_offset_ = static_cast<std::uint8_t>((mask_offset_ + size) % key_.size());
  }
  return piece;
}

Result<MessageReader::Event> MessageReader::take_control(std::span<char>& input) {
  const std::size_t before = control_bytes_ - static_cast<std::size_t>(left_bytes_);
  const std::span<char> piece = take_piece(input);
  if (left_bytes_ == 0 && before == 0) return end_control(view(piece));
  std::copy(piece.begin(), piece.end(),
            extra().control.begin() + static_cast<std::ptrdiff_t>(before));
  if (left_bytes_ != 0) return Event::NeedMore;
  return end_control({extra().control.data(), control_bytes_});
}

MessageReader::Event MessageReader::end_control(std::string_view payload) {
  state_ = State::Header;
  payload_ = payload;
  if (frame_opcode_ == Opcode::Ping) return Event::Ping;
  if (frame_opcode_ == Opcode::Pong) return Event::Pong;
  auto reason = parse_close(payload);
  if (!reason) return fail(reason.error());
  end(State::Closed);
  extra().reason = *std::move(reason);
  return Event::Close;
}

Result<MessageReader::Event> MessageReader::take_data(std::span<char>& input) {
  const std::string_view piece = view(take_piece(input));
  const bool is_end = is_final_ && left_bytes_ == 0;
  bool is_in_input = false;
  if (is_compressed_) {
    if (const auto taken = inflate(piece, is_end); !taken) return taken.error();
  } else {
    if (const auto checked = check_text(piece); !checked) return checked.error();
    is_in_input = is_end && collected_.empty();
    if (!is_in_input) collect(piece);
  }
  if (left_bytes_ == 0) state_ = State::Header;
  if (!is_end) return Event::NeedMore;
  is_in_message_ = false;
  if (message_opcode_ == Opcode::Text && !utf8_.is_complete()) return not_utf8;
  payload_ = is_in_input ? piece : collected_;
  return Event::Message;
}

Result<void> MessageReader::check_text(std::string_view text) noexcept {
  if (message_opcode_ == Opcode::Text && !utf8_.feed(text)) return not_utf8;
  return {};
}

Result<void> MessageReader::inflate(std::string_view piece, bool is_end) {
  std::array<char, inflate_room_bytes> room;
  for (bool is_done = false; !is_done;) {
    const auto step = inflater_->inflate(piece, room);
    if (!step) return step.error();
    if (const auto taken = take_inflated({room.data(), step->made}); !taken) return taken.error();
    piece.remove_prefix(step->taken);
    is_done = step->is_done;
  }
  for (bool is_done = !is_end; !is_done;) {
    const auto step = inflater_->finish(room);
    if (!step) return step.error();
    if (const auto taken = take_inflated({room.data(), step->made}); !taken) return taken.error();
    is_done = step->is_done;
  }
  return {};
}

Result<void> MessageReader::take_inflated(std::string_view made) {
  const std::string_view allowed = made.substr(0, message_bytes_ - collected_.size());
  if (const auto checked = check_text(allowed); !checked) return checked.error();
  if (allowed.size() != made.size()) return too_long;
  collect(made);
  return {};
}

}  // namespace skua::ws
