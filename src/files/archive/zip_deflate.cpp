// SPDX-License-Identifier: MIT
// In: content. Out: raw deflate. The encoder's streams have zlib's wrapper, two bytes before and
// four after, which come off. Content that does not shrink, such as films, goes into blocks of
// deflate that are merely copied, so that it costs no time.
#include "files/archive/zip_deflate.hpp"

#include <algorithm>
#include <utility>

namespace skua::files {
namespace {

using coding::Coding;
using coding::Encoder;

constexpr std::size_t zlib_head_bytes = 2;
constexpr std::size_t zlib_tail_bytes = 4;
constexpr std::size_t max_stored_bytes = 65'535;

// RFC 1951 §3.2.4: a bit that says whether this is the last block and two zero bits, up to the end
// of the byte; then the length, and its complement.
void append_stored_block(std::string& out, std::string_view content, bool is_last) {
  const auto size = static_cast<unsigned>(content.size());
  const unsigned inverse = size ^ 0xffffU;
  out += is_last ? '\1' : '\0';
  for (const unsigned half : {size & 0xffU, size >> 8U, inverse & 0xffU, inverse >> 8U}) {
    out += static_cast<char>(half);
  }
  out.append(content);
}

void append_stored(std::string& out, std::string_view content) {
  while (!content.empty()) {
    const std::string_view block = content.substr(0, max_stored_bytes);
    append_stored_block(out, block, false);
    content.remove_prefix(block.size());
  }
}

bool is_worth_it(std::size_t plain_bytes, std::size_t deflated_bytes) noexcept {
  return deflated_bytes < plain_bytes - plain_bytes / 20;
}

}  // namespace

Result<Encoder*> ZipDeflate::restart() {
  if (!coding::is_available(Coding::Deflate)) return nullptr;
  if (encoder_) {
    if (const auto restarted = encoder_->restart(); !restarted) return restarted.error();
    return &*encoder_;
  }
  auto made = Encoder::create(Coding::Deflate, archive_level);
  if (!made) return made.error();
  return &encoder_.emplace(*std::move(made));
}

Result<std::string> ZipDeflate::whole(std::string_view content) {
  std::string coded;
  if (content.empty()) return coded;
  const auto encoder = restart();
  if (!encoder) return encoder.error();
  if (*encoder == nullptr) return coded;
  if (const auto ended = (*encoder)->finish(content, coded); !ended) return ended.error();
  if (!is_worth_it(content.size(), coded.size())) return std::string();
  coded.resize(coded.size() - zlib_tail_bytes);
  coded.erase(0, zlib_head_bytes);
  return coded;
}

Result<void> ZipDeflate::write_first(std::string_view piece, std::string& out) {
  way_ = Way::Stored;
  const auto encoder = restart();
  if (!encoder) return encoder.error();
  if (*encoder != nullptr) {
    std::string coded;
    if (auto pushed = (*encoder)->push(piece, coded); !pushed) return pushed;
    if (auto flushed = (*encoder)->flush(coded); !flushed) return flushed;
    if (is_worth_it(piece.size(), coded.size())) {
      way_ = Way::Compressed;
      out.append(coded, zlib_head_bytes);
      return {};
    }
  }
  append_stored(out, piece);
  return {};
}

Result<void> ZipDeflate::write(std::string_view piece, std::string& out) {
  if (way_ == Way::Unknown) return write_first(piece, out);
  if (way_ == Way::Compressed && encoder_) return encoder_->push(piece, out);
  append_stored(out, piece);
  return {};
}

Result<void> ZipDeflate::end(std::string& out) {
  if (way_ != Way::Compressed || !encoder_) {
    append_stored_block(out, {}, true);
    return {};
  }
  if (auto ended = encoder_->finish({}, out); !ended) return ended;
  out.resize(out.size() - zlib_tail_bytes);
  return {};
}

}  // namespace skua::files
