// SPDX-License-Identifier: MIT
// zstd (RFC 8878), with its library. No other file includes it.
#include "coding/engine.hpp"

#if defined(SKUA_HAS_ZSTD)

#include <algorithm>

#include <zstd.h>
#include <zstd_errors.h>

namespace skua::coding {
namespace {

// RFC 9659 §3 limits windows to 8 MiB. Without this limit a frame's header would decide how much
// memory we allocate.
constexpr int largest_window_bits = 23;

struct FreeEncoder {
  void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
};
struct FreeDecoder {
  void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
};

Error failure(std::size_t code) noexcept {
  const bool is_memory = ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation;
  return {is_memory ? Errc::OutOfMemory : Errc::MalformedCoding, "zstd"};
}

class ZstdEncoder final : public EncodeEngine {
 public:
  bool open(int level) noexcept {
    if (!context_) return false;
    const std::size_t code = ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
    return ZSTD_isError(code) == 0 &&
           ZSTD_isError(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_windowLog, window_bits)) == 0;
  }
  Result<Step> run(std::string_view input, std::span<char> room, Drive drive) noexcept override {
    ZSTD_inBuffer in{.src = input.data(), .size = input.size(), .pos = 0};
    ZSTD_outBuffer out{.dst = room.data(), .size = room.size(), .pos = 0};
    const ZSTD_EndDirective end = drive == Drive::Push    ? ZSTD_e_continue
                                  : drive == Drive::Flush ? ZSTD_e_flush
                                                          : ZSTD_e_end;
    const std::size_t left = ZSTD_compressStream2(context_.get(), &out, &in, end);
    if (ZSTD_isError(left) != 0) return failure(left);
    const bool is_taken = in.pos == in.size;
    return Step{.taken = in.pos,
                .made = out.pos,
                .is_done = drive == Drive::Push ? is_taken : is_taken && left == 0};
  }
  bool restart() noexcept override {
    return ZSTD_isError(ZSTD_CCtx_reset(context_.get(), ZSTD_reset_session_only)) == 0;
  }

 private:
  static constexpr int window_bits = 19;  // 512 KiB, as for brotli

  std::unique_ptr<ZSTD_CCtx, FreeEncoder> context_{ZSTD_createCCtx()};
};

class ZstdDecoder final : public DecodeEngine {
 public:
  bool open() noexcept {
    return context_ && ZSTD_isError(ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax,
                                                           largest_window_bits)) == 0;
  }
  // Frames may be concatenated (RFC 8878 §3.1); the library starts the next one by itself.
  Result<Step> run(std::string_view input, std::span<char> room) noexcept override {
    if (is_at_end_ && input.empty()) return Step{.is_done = true};
    if (is_at_end_) magic_bytes_ = 0;
    if (!begins_a_frame(input)) return Error(Errc::MalformedCoding, "zstd: not a frame");
    ZSTD_inBuffer in{.src = input.data(), .size = input.size(), .pos = 0};
    ZSTD_outBuffer out{.dst = room.data(), .size = room.size(), .pos = 0};
    const std::size_t left = ZSTD_decompressStream(context_.get(), &out, &in);
    if (ZSTD_isError(left) != 0) return failure(left);
    is_at_end_ = left == 0;
    magic_bytes_ = std::min(magic_bytes_ + in.pos, magic_size);
    return Step{.taken = in.pos, .made = out.pos, .is_done = is_at_end_};
  }

 private:
  static constexpr std::size_t magic_size = 4;

  // Reports whether the magic number, as far as it has arrived, is that of a frame or a skippable
  // frame (RFC 8878 §3.1). The library may also support formats that predate the standard, and
  // peers must not reach their decoders.
  bool begins_a_frame(std::string_view input) noexcept {
    for (std::size_t i = magic_bytes_; i < magic_size && i - magic_bytes_ < input.size(); ++i) {
      const char byte = input[i - magic_bytes_];
      const bool skips = (static_cast<unsigned char>(byte) & 0xf0U) == 0x50;
      if (i == 0) is_skipped_ = skips;
      if (i == 0 && skips) continue;
      if (byte != (is_skipped_ ? "\x50\x2a\x4d\x18" : "\x28\xb5\x2f\xfd")[i]) return false;
    }
    return true;
  }

  std::unique_ptr<ZSTD_DCtx, FreeDecoder> context_{ZSTD_createDCtx()};
  std::size_t magic_bytes_ = 0;  // bytes of the frame's magic number seen so far
  bool is_skipped_ = false;
  bool is_at_end_ = false;
};

}  // namespace

std::unique_ptr<EncodeEngine> make_zstd_encoder(int level) {
  auto engine = std::make_unique<ZstdEncoder>();
  if (!engine->open(level)) return nullptr;
  return engine;
}

std::unique_ptr<DecodeEngine> make_zstd_decoder() {
  auto engine = std::make_unique<ZstdDecoder>();
  if (!engine->open()) return nullptr;
  return engine;
}

}  // namespace skua::coding

#endif
