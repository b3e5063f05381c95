// SPDX-License-Identifier: MIT
// In: messages. Out: their permessage-deflate payloads, and vice versa, using zlib: raw DEFLATE
// (RFC 1951), flushed after each message, without the four bytes that end each flush. RFC 7692 §7.2
#include "ws/deflate.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "skua/bytes.hpp"
#include "skua/config.hpp"

#if defined(SKUA_HAS_ZLIB)
#include <zlib.h>
#endif

namespace skua::ws {

#if defined(SKUA_HAS_ZLIB)

namespace {

constexpr std::string_view flush_tail{"\x00\x00\xff\xff", 4};
// RFC 7692 §7.2.3.6: an empty message is a single empty block.
constexpr char empty_message = '\0';
constexpr const char* undecodable = "the message cannot be decompressed";
constexpr int smallest_window_bits = 9;
constexpr unsigned unused_bits = 7;           // mask for z_stream::data_type after inflate()
constexpr unsigned behind_block = 128;        // flag in data_type
constexpr std::size_t inflate_bytes = 7_KiB;  // zconf.h: approximate, besides the window

// zlib sizes have 32 bits; the rest waits for the next step.
uInt clamp(std::size_t size) noexcept {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

// zlib does not write to its input, although the type is not const.
Bytef* in(std::string_view bytes) noexcept {
  return reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
}

Bytef* out_to(std::span<char> bytes) noexcept { return reinterpret_cast<Bytef*>(bytes.data()); }

}  // namespace

bool is_deflate_available() noexcept { return true; }

class InflateState {
 public:
  InflateState() = default;
  InflateState(const InflateState&) = delete;
  InflateState& operator=(const InflateState&) = delete;
  ~InflateState() {
    if (is_open_) inflateEnd(&stream_);
  }

  bool open(int window_bits) noexcept {
    error_ = Errc::None;
    is_at_end_ = false;
    is_behind_block_ = false;
    if (is_open_) return inflateReset2(&stream_, -window_bits) == Z_OK;
    is_open_ = inflateInit2(&stream_, -window_bits) == Z_OK;
    return is_open_;
  }

  Result<Inflater::Step> run(std::string_view input, std::span<char> room) noexcept {
    if (error_ != Errc::None) return Error(error_, undecodable);
    if (room.empty()) return Inflater::Step{};
    stream_.next_in = in(input);
    stream_.avail_in = clamp(input.size());
    stream_.next_out = out_to(room);
    stream_.avail_out = clamp(room.size());
    const int code = ::inflate(&stream_, Z_SYNC_FLUSH);
    Inflater::Step step{.taken = clamp(input.size()) - stream_.avail_in,
                        .made = clamp(room.size()) - stream_.avail_out};
    if (step.taken != 0 || step.made != 0) {
      is_at_end_ = false;
      const auto type = static_cast<unsigned>(stream_.data_type);
      is_behind_block_ = (type & behind_block) != 0 && (type & unused_bits) == 0;
    }
    if (code == Z_STREAM_END) {
      // RFC 7692 §7.2.3.4: a final block is treated like any other, and the window is kept.
      is_at_end_ = true;
      inflateResetKeep(&stream_);
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      error_ = code == Z_MEM_ERROR ? Errc::OutOfMemory : Errc::MalformedCoding;
      // Output before the error is delivered first, however the input was split.
      if (step.made == 0) return Error(error_, undecodable);
    }
    step.is_done = error_ == Errc::None && step.taken == input.size() && step.made < room.size();
    return step;
  }

  // Reports whether the input so far ends with a final block.
  [[nodiscard]] bool is_at_end() const noexcept { return is_at_end_; }
  [[nodiscard]] bool is_behind_whole_block() const noexcept {
    return is_at_end_ || is_behind_block_;
  }
  void refuse() noexcept { error_ = Errc::MalformedCoding; }

 private:
  z_stream stream_{};
  Errc error_ = Errc::None;
  bool is_open_ = false;
  bool is_at_end_ = false;
  bool is_behind_block_ = false;
};

Result<void> Inflater::begin() {
  if (state_ != nullptr) return {};
  state_ = pool_ != nullptr ? pool_->states_.take() : std::make_unique<InflateState>();
  if (state_->open(window_bits_)) return {};
  state_.reset();
  return Error(Errc::OutOfMemory, undecodable);
}

Result<Inflater::Step> Inflater::inflate(std::string_view input, std::span<char> room) {
  if (const auto begun = begin(); !begun) return begun.error();
  auto step = state_->run(input, room);
  if (step && pool_ != nullptr && pool_->made_bytes_ != nullptr) *pool_->made_bytes_ += step->made;
  return step;
}

Result<Inflater::Step> Inflater::finish(std::span<char> room) {
  if (const auto begun = begin(); !begun) return begun.error();
  // Some senders end a message with a final block and nothing after it.
  const bool has_tail = tail_taken_ != 0 || !state_->is_at_end();
  const auto tail = has_tail ? flush_tail.substr(tail_taken_) : std::string_view();
  auto step = state_->run(tail, room);
  if (!step) return step.error();
  tail_taken_ = static_cast<std::uint8_t>(tail_taken_ + step->taken);
  if (!step->is_done) return step;
  if (!state_->is_behind_whole_block()) {
    state_->refuse();
    if (step->made == 0) return Error(Errc::MalformedCoding, undecodable);
    step->is_done = false;
    return step;
  }
  tail_taken_ = 0;
  if (!keeps_context_) release();
  return step;
}

std::size_t Inflater::memory_bytes() const noexcept {
  return state_ == nullptr ? 0 : inflate_bytes + (std::size_t{1} << window_bits_);
}

struct Deflater::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (is_open) deflateEnd(&stream);
  }

  z_stream stream{};
  bool is_open = false;
};

namespace {

// Sizes the hash table for the window: it is cleared before each message, and most are small.
int memory_level(int window_bits) noexcept { return std::clamp(window_bits - 7, 3, 6); }

}  // namespace

Result<void> Deflater::deflate(std::string_view message, std::string& out) {
  if (message.empty()) {
    out += empty_message;
    return {};
  }
  if (state_ == nullptr) state_ = std::make_unique<State>();
  z_stream& stream = state_->stream;
  if (!state_->is_open) {
    if (deflateInit2(&stream, level_, Z_DEFLATED, -window_bits_, memory_level(window_bits_),
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      state_.reset();
      return Error(Errc::OutOfMemory, "the message cannot be compressed");
    }
    state_->is_open = true;
  }
  std::array<char, 8_KiB> room;
  do {
    stream.next_in = in(message);
    stream.avail_in = clamp(message.size());
    stream.next_out = out_to(room);
    stream.avail_out = clamp(room.size());
    [[maybe_unused]] const int code = ::deflate(&stream, Z_SYNC_FLUSH);
    SKUA_ASSERT(code == Z_OK || code == Z_BUF_ERROR);
    message.remove_prefix(clamp(message.size()) - stream.avail_in);
    out.append(room.data(), room.size() - stream.avail_out);
  } while (!message.empty() || stream.avail_out == 0);
  SKUA_ASSERT(std::string_view(out).ends_with(flush_tail));
  out.resize(out.size() - flush_tail.size());
  if (!keeps_context_) deflateReset(&stream);
  return {};
}

std::size_t Deflater::memory_bytes() const noexcept {
  // zconf.h: "(1 << (windowBits+2)) +  (1 << (memLevel+9))".
  return state_ == nullptr ? 0
                           : sizeof(State) + (std::size_t{1} << (window_bits_ + 2)) +
                                 (std::size_t{1} << (memory_level(window_bits_) + 9));
}

// In raw streams zlib's smallest window has 9 bits, but it then looks back at most 250 bytes
// (deflate.h, MAX_DIST), which fits into a window of 8 bits.
Deflater::Deflater(int window_bits, bool keeps_context, int level) noexcept
    : window_bits_(static_cast<std::uint8_t>(std::max(window_bits, smallest_window_bits))),
      level_(static_cast<std::int8_t>(level)),
      keeps_context_(keeps_context) {}

#else

class InflateState {};

bool is_deflate_available() noexcept { return false; }

Result<void> Inflater::begin() { return Errc::Unsupported; }
Result<Inflater::Step> Inflater::inflate(std::string_view, std::span<char>) {
  return Errc::Unsupported;
}
Result<Inflater::Step> Inflater::finish(std::span<char>) { return Errc::Unsupported; }
std::size_t Inflater::memory_bytes() const noexcept { return 0; }

struct Deflater::State {};
Deflater::Deflater(int window_bits, bool keeps_context, int level) noexcept
    : window_bits_(static_cast<std::uint8_t>(window_bits)),
      level_(static_cast<std::int8_t>(level)),
      keeps_context_(keeps_context) {}
Result<void> Deflater::deflate(std::string_view, std::string&) { return Errc::Unsupported; }
std::size_t Deflater::memory_bytes() const noexcept { return 0; }

#endif

InflatePool::InflatePool(std::size_t kept) : states_(kept) {}
InflatePool::~InflatePool() = default;

Inflater::Inflater(int window_bits, bool keeps_context, InflatePool* pool) noexcept
    : pool_(pool),
      window_bits_(static_cast<std::uint8_t>(window_bits)),
      keeps_context_(keeps_context) {}

Inflater::~Inflater() { release(); }

void Inflater::release() noexcept {
  if (pool_ != nullptr) pool_->states_.give_back(std::move(state_));
  state_.reset();
}

void Inflater::abandon() noexcept {
  tail_taken_ = 0;
  release();
}

Deflater::~Deflater() = default;

}  // namespace skua::ws
