// SPDX-License-Identifier: MIT
// br (RFC 7932), with the brotli library. No other file includes it.
#include "coding/engine.hpp"

#if defined(SKUA_HAS_BROTLI)

#include <brotli/decode.h>
#include <brotli/encode.h>

namespace skua::coding {
namespace {

// 512 KiB: bodies are rarely larger, and a larger window only costs memory.
constexpr std::uint32_t window_bits = 19;

const std::uint8_t* raw(std::string_view input) noexcept {
  return reinterpret_cast<const std::uint8_t*>(input.data());
}

class BrotliEncoder final : public EncodeEngine {
 public:
  ~BrotliEncoder() override { BrotliEncoderDestroyInstance(state_); }
  bool open(int level) noexcept {
    if (state_ == nullptr) return false;
    BrotliEncoderSetParameter(state_, BROTLI_PARAM_LGWIN, window_bits);
    return BrotliEncoderSetParameter(state_, BROTLI_PARAM_QUALITY,
                                     static_cast<std::uint32_t>(level)) == BROTLI_TRUE;
  }
  Result<Step> run(std::string_view input, std::span<char> room, Drive drive) noexcept override {
    const std::uint8_t* next_in = raw(input);
    auto* next_out = reinterpret_cast<std::uint8_t*>(room.data());
    std::size_t in_left = input.size();
    std::size_t out_left = room.size();
    const BrotliEncoderOperation operation = drive == Drive::Push    ? BROTLI_OPERATION_PROCESS
                                             : drive == Drive::Flush ? BROTLI_OPERATION_FLUSH
                                                                     : BROTLI_OPERATION_FINISH;
    if (BrotliEncoderCompressStream(state_, operation, &in_left, &next_in, &out_left, &next_out,
                                    nullptr) == BROTLI_FALSE) {
      return Error(Errc::OutOfMemory, "br");
    }
    Step step{.taken = input.size() - in_left, .made = room.size() - out_left};
    const bool is_out = in_left == 0 && BrotliEncoderHasMoreOutput(state_) == BROTLI_FALSE;
    step.is_done = drive == Drive::Finish ? BrotliEncoderIsFinished(state_) == BROTLI_TRUE : is_out;
    return step;
  }
  bool restart() noexcept override { return false; }  // not supported by the library

 private:
  BrotliEncoderState* state_ = BrotliEncoderCreateInstance(nullptr, nullptr, nullptr);
};

class BrotliDecoder final : public DecodeEngine {
 public:
  ~BrotliDecoder() override { BrotliDecoderDestroyInstance(state_); }
  [[nodiscard]] bool is_open() const noexcept { return state_ != nullptr; }
  Result<Step> run(std::string_view input, std::span<char> room) noexcept override {
    if (is_at_end_) {
      if (!input.empty()) return Error(Errc::MalformedCoding, "br: bytes after the end");
      return Step{.is_done = true};
    }
    const std::uint8_t* next_in = raw(input);
    auto* next_out = reinterpret_cast<std::uint8_t*>(room.data());
    std::size_t in_left = input.size();
    std::size_t out_left = room.size();
    const BrotliDecoderResult result =
        BrotliDecoderDecompressStream(state_, &in_left, &next_in, &out_left, &next_out, nullptr);
    if (result == BROTLI_DECODER_RESULT_ERROR) {
      // brotli/decode.h: codes from -21 to -30 mean out of memory, the others malformed input.
      const int code = BrotliDecoderGetErrorCode(state_);
      const bool is_memory = code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES &&
                             code >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES;
      return Error(is_memory ? Errc::OutOfMemory : Errc::MalformedCoding, "br");
    }
    is_at_end_ = result == BROTLI_DECODER_RESULT_SUCCESS;
    return Step{
        .taken = input.size() - in_left, .made = room.size() - out_left, .is_done = is_at_end_};
  }

 private:
  BrotliDecoderState* state_ = BrotliDecoderCreateInstance(nullptr, nullptr, nullptr);
  bool is_at_end_ = false;
};

}  // namespace

std::unique_ptr<EncodeEngine> make_brotli_encoder(int level) {
  auto engine = std::make_unique<BrotliEncoder>();
  if (!engine->open(level)) return nullptr;
  return engine;
}

std::unique_ptr<DecodeEngine> make_brotli_decoder() {
  auto engine = std::make_unique<BrotliDecoder>();
  if (!engine->is_open()) return nullptr;
  return engine;
}

}  // namespace skua::coding

#endif
