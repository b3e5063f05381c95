// SPDX-License-Identifier: MIT
// gzip (RFC 1952) and deflate in its zlib wrapper (RFC 1950), with zlib. No other file includes it.
// Raw deflate streams, which some servers send by mistake, are read on request.
#include "coding/engine.hpp"

#if defined(SKUA_HAS_ZLIB)

#include <algorithm>
#include <limits>

#include <zlib.h>

namespace skua::coding {
namespace {

constexpr int gzip_wrapping = 16;
constexpr int memory_level = 8;

// zlib counts in 32 bits; the excess waits for the next step.
uInt clamp(std::size_t size) noexcept {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

void load(z_stream& stream, std::string_view input, std::span<char> room) noexcept {
  // zlib does not write to its input; its C type merely lacks const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
  stream.avail_in = clamp(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(room.data());
  stream.avail_out = clamp(room.size());
}

Step difference(const z_stream& stream, std::string_view input, std::span<char> room) noexcept {
  return {.taken = clamp(input.size()) - stream.avail_in,
          .made = clamp(room.size()) - stream.avail_out};
}

class ZlibEncoder final : public EncodeEngine {
 public:
  ~ZlibEncoder() override {
    if (is_open_) deflateEnd(&stream_);
  }
  bool open(bool is_gzip, int level) noexcept {
    const int bits = MAX_WBITS + (is_gzip ? gzip_wrapping : 0);
    is_open_ =
        deflateInit2(&stream_, level, Z_DEFLATED, bits, memory_level, Z_DEFAULT_STRATEGY) == Z_OK;
    return is_open_;
  }
  Result<Step> run(std::string_view input, std::span<char> room, Drive drive) noexcept override {
    load(stream_, input, room);
    const int flush = drive == Drive::Push    ? Z_NO_FLUSH
                      : drive == Drive::Flush ? Z_SYNC_FLUSH
                                              : Z_FINISH;
    const int code = deflate(&stream_, flush);
    Step step = difference(stream_, input, room);
    // zlib.h: no progress is not an error. If room is left, all output is out.
    if (code == Z_STREAM_ERROR) return Error(Errc::MalformedCoding, "gzip: encoded past the end");
    const bool is_out = step.taken == input.size() && stream_.avail_out != 0;
    step.is_done = drive == Drive::Finish ? code == Z_STREAM_END : is_out;
    return step;
  }
  bool restart() noexcept override { return deflateReset(&stream_) == Z_OK; }

 private:
  z_stream stream_{};
  bool is_open_ = false;
};

class ZlibDecoder final : public DecodeEngine {
 public:
  explicit ZlibDecoder(DeflateForm form) noexcept : form_(form) {}
  ~ZlibDecoder() override {
    if (is_open_) inflateEnd(&stream_);
  }
  bool open() noexcept {
    const int wrapping = form_ == DeflateForm::Gzip ? gzip_wrapping : 0;
    is_open_ = inflateInit2(&stream_, MAX_WBITS + wrapping) == Z_OK;
    return is_open_;
  }
  Result<Step> run(std::string_view input, std::span<char> room) noexcept override {
    if (is_at_end_ && !input.empty()) {
      // RFC 1952 §2.2: a gzip file consists of one or more consecutive members.
      if (form_ != DeflateForm::Gzip)
        return Error(Errc::MalformedCoding, "deflate: bytes after the end");
      inflateReset(&stream_);
      is_at_end_ = false;
    }
    if (form_ == DeflateForm::ZlibOrRaw && !input.empty()) decide_form(input.front());
    load(stream_, input, room);
    const int code = inflate(&stream_, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) return Error(Errc::OutOfMemory, "gzip");
    if (code != Z_OK && code != Z_BUF_ERROR && code != Z_STREAM_END) {
      return Error(Errc::MalformedCoding, "gzip");
    }
    is_at_end_ = is_at_end_ || code == Z_STREAM_END;
    Step step = difference(stream_, input, room);
    step.is_done = is_at_end_;
    return step;
  }

 private:
  // RFC 1950 §2.2: the low four bits of a zlib stream's first byte are 8. In raw deflate, that
  // means a stored block with nonzero padding, which no encoder writes (RFC 1951 §3.2.3, §3.2.4).
  void decide_form(char first) noexcept {
    const bool is_raw = (static_cast<unsigned char>(first) & 0x0fU) != 8;
    if (is_raw) inflateReset2(&stream_, -MAX_WBITS);
    form_ = DeflateForm::Zlib;
  }

  z_stream stream_{};
  DeflateForm form_;
  bool is_open_ = false;
  bool is_at_end_ = false;
};

}  // namespace

std::unique_ptr<EncodeEngine> make_zlib_encoder(bool is_gzip, int level) {
  auto engine = std::make_unique<ZlibEncoder>();
  if (!engine->open(is_gzip, level)) return nullptr;
  return engine;
}

std::unique_ptr<DecodeEngine> make_zlib_decoder(DeflateForm form) {
  auto engine = std::make_unique<ZlibDecoder>(form);
  if (!engine->open()) return nullptr;
  return engine;
}

}  // namespace skua::coding

#endif
