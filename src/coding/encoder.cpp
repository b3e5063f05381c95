// SPDX-License-Identifier: MIT
// In: text in pieces. Out: encoded output, appended to a string.
#include "coding/encoder.hpp"

#include <stdexcept>
#include <utility>

namespace skua::coding {
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
