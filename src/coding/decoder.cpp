// SPDX-License-Identifier: MIT
// In: encoded input in pieces. Out: decoded output in buffers from the caller, so that a
// decompression bomb takes no extra memory. The limits are checked after every buffer.
#include "coding/decoder.hpp"

#include <algorithm>
#include <utility>

namespace skua::coding {
namespace {

constexpr std::size_t decoder_room_bytes = 16U << 10U;

std::unique_ptr<DecodeEngine> make_engine([[maybe_unused]] Coding coding,
                                          [[maybe_unused]] RawDeflate raw) {
#if defined(SKUA_HAS_ZLIB)
  if (coding == Coding::Gzip) return make_zlib_decoder(DeflateForm::Gzip);
  if (coding == Coding::Deflate) {
    return make_zlib_decoder(raw == RawDeflate::Taken ? DeflateForm::ZlibOrRaw : DeflateForm::Zlib);
  }
#endif
#if defined(SKUA_HAS_BROTLI)
  if (coding == Coding::Brotli) return make_brotli_decoder();
#endif
#if defined(SKUA_HAS_ZSTD)
  if (coding == Coding::Zstd) return make_zstd_decoder();
#endif
  return nullptr;
}

}  // namespace

Result<Decoder> Decoder::create(Coding coding, DecodeLimits limits, RawDeflate raw) {
  if (!is_available(coding)) return Error(Errc::Unsupported, "content coding");
  std::unique_ptr<DecodeEngine> engine = make_engine(coding, raw);
  if (!engine) return Error(Errc::OutOfMemory, "content coding");
  return Decoder(std::move(engine), limits);
}

Result<std::size_t> Decoder::step(std::string_view& input, std::span<char> room) noexcept {
  // One byte beyond the limit is enough to detect the excess.
  const std::uint64_t left = limits_.output_bytes - made_bytes_;
  if (left < room.size()) room = room.first(static_cast<std::size_t>(left) + 1);
  const Result<Step> step = engine_->run(input, room);
  if (!step) return step.error();
  if (step->taken == 0 && step->made == 0 && !input.empty()) {
    return Error(Errc::MalformedCoding, "content coding");
  }
  input.remove_prefix(step->taken);
  taken_bytes_ += step->taken;
  is_full_ = step->made == room.size();
  is_at_end_ = step->is_done;
  if (step->made > left) return Error(Errc::BodyTooLong, "content coding");
  made_bytes_ += step->made;
  if (!limits_.is_within_ratio(taken_bytes_, made_bytes_)) {
    return Error(Errc::BodyTooLong, "content coding: the ratio");
  }
  return step->made;
}

Result<std::size_t> Decoder::read(std::string_view& input, std::span<char> room) noexcept {
  SKUA_ASSERT(!room.empty());
  if (error_.code() != Errc::None) return error_;
  while (!input.empty() || is_full_) {
    const Result<std::size_t> made = step(input, room);
    if (!made) error_ = made.error();
    if (!made || *made != 0) return made;
  }
  return std::size_t{0};
}

Result<void> Decoder::push(std::string_view input, std::string& output) {
  for (;;) {
    const std::size_t before = output.size();
    output.resize(before + decoder_room_bytes);
    const Result<std::size_t> made = read(input, std::span(output).subspan(before));
    output.resize(before + (made ? *made : 0));
    if (!made) return made.error();
    if (*made == 0) return {};
  }
}

Result<void> Decoder::finish() const noexcept {
  if (error_.code() != Errc::None) return error_;
  if (!is_at_end_ || is_full_) return Error(Errc::MalformedCoding, "content coding: cut off");
  return {};
}

}  // namespace skua::coding
