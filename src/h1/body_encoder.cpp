// SPDX-License-Identifier: MIT
// In: chunk sizes and trailer lines. Out: the framing of a chunked body. Content is never copied:
// it is sent from where it lies.
#include "h1/body_encoder.hpp"

#include <bit>
#include <cstring>

#include "skua/config.hpp"

namespace skua::h1 {

char* write_chunk_header(std::uint64_t size_bytes, char* out) noexcept {
  SKUA_ASSERT(size_bytes != 0);
  const int digits = (static_cast<int>(std::bit_width(size_bytes)) + 3) / 4;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    *out++ = "0123456789abcdef"[size_bytes >> shift & 15];
  }
  *out++ = '\r';
  *out++ = '\n';
  return out;
}

char* write_last_chunk(std::string_view trailers, char* out) noexcept {
  std::memcpy(out, "0\r\n", 3);
  out += 3;
  if (!trailers.empty()) std::memcpy(out, trailers.data(), trailers.size());
  out += trailers.size();
  std::memcpy(out, "\r\n", 2);
  return out + 2;
}

}  // namespace skua::h1
