// SPDX-License-Identifier: MIT
// Names of codings, and which of them this build supports.
#include "coding/coding.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/ascii.hpp"

namespace skua::coding {

std::string_view name(Coding coding) noexcept {
  switch (coding) {
    case Coding::Gzip: return "gzip";
    case Coding::Deflate: return "deflate";
    case Coding::Brotli: return "br";
    case Coding::Zstd: return "zstd";
  }
  return {};
}

std::optional<Coding> find_coding(std::string_view text) noexcept {
  for (const Coding coding : {Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd}) {
    if (ascii::equals_ignoring_case(text, name(coding))) return coding;
  }
  if (ascii::equals_ignoring_case(text, "x-gzip")) return Coding::Gzip;
  return std::nullopt;
}

bool is_available(Coding coding) noexcept {
  switch (coding) {
    case Coding::Gzip:
    case Coding::Deflate:
#if defined(SKUA_HAS_ZLIB)
      return true;
#else
      return false;
#endif
    case Coding::Brotli:
#if defined(SKUA_HAS_BROTLI)
      return true;
#else
      return false;
#endif
    case Coding::Zstd:
#if defined(SKUA_HAS_ZSTD)
      return true;
#else
      return false;
#endif
  }
  return false;
}

// In: encoded input in pieces. Out: decoded output in buffers from the caller, so that a
// decompression bomb takes no extra memory. The limits are checked after every buffer.

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

// In: text in pieces. Out: encoded output, appended to a string.

namespace {

constexpr std::size_t encoder_room_bytes = 16U << 10U;

std::unique_ptr<EncodeEngine> make_engine([[maybe_unused]] Coding coding,
                                          [[maybe_unused]] int level) {
#if defined(SKUA_HAS_ZLIB)
  if (coding == Coding::Gzip) return make_zlib_encoder(true, level);
  if (coding == Coding::Deflate) return make_zlib_encoder(false, level);
#endif
#if defined(SKUA_HAS_BROTLI)
  if (coding == Coding::Brotli) return make_brotli_encoder(level);
#endif
#if defined(SKUA_HAS_ZSTD)
  if (coding == Coding::Zstd) return make_zstd_encoder(level);
#endif
  return nullptr;
}

}  // namespace

Levels levels(Coding coding) noexcept {
  switch (coding) {
    case Coding::Gzip:
    case Coding::Deflate: return {.fastest = 1, .smallest = 9, .usual = 6};
    case Coding::Brotli: return {.fastest = 0, .smallest = 11, .usual = 4};
    case Coding::Zstd: return {.fastest = 1, .smallest = 19, .usual = 3};
  }
  return {};
}

Result<Encoder> Encoder::create(Coding coding, int level) {
  const Levels range = levels(coding);
  if (level < range.fastest || level > range.smallest) {
    throw std::invalid_argument(std::string(name(coding)) + " has no such level");
  }
  if (!is_available(coding)) return Error(Errc::Unsupported, "content coding");
  std::unique_ptr<EncodeEngine> engine = make_engine(coding, level);
  if (!engine) return Error(Errc::OutOfMemory, "content coding");
  return Encoder(std::move(engine), coding, level);
}

Result<void> Encoder::push(std::string_view input, std::string& output) {
  return run(input, output, Drive::Push);
}

Result<void> Encoder::flush(std::string& output) { return run({}, output, Drive::Flush); }

Result<void> Encoder::finish(std::string_view input, std::string& output) {
  return run(input, output, Drive::Finish);
}

Result<void> Encoder::restart() {
  if (engine_->restart()) return {};
  engine_ = make_engine(coding_, level_);
  if (!engine_) return Error(Errc::OutOfMemory, "content coding");
  return {};
}

Result<void> Encoder::run(std::string_view input, std::string& output, Drive drive) {
  for (;;) {
    const std::size_t before = output.size();
    output.resize(before + encoder_room_bytes);
    const Result<Step> step =
        engine_->run(input, std::span(output).subspan(before, encoder_room_bytes), drive);
    output.resize(before + (step ? step->made : 0));
    if (!step) return step.error();
    input.remove_prefix(step->taken);
    if (step->is_done) return {};
  }
}

}  // namespace skua::coding
