// SPDX-License-Identifier: MIT
// In: content of unknown length. Out: HTTP/1.1 chunks.
#include "body/chunks.hpp"

#include <array>
#include <string>
#include <utility>

#include "h1/body_encoder.hpp"

namespace skua::body {

void append_chunk(net::OutputQueue& output, Body&& piece) {
  std::array<char, h1::chunk_header_bytes> header;
  const char* const end = h1::write_chunk_header(piece.size_bytes(), header.data());
  output.append({header.data(), static_cast<std::size_t>(end - header.data())});
  output.append_piece(std::move(piece));
  output.append(h1::chunk_end);
}

void append_last_chunk(net::OutputQueue& output, const FieldLines& trailers) {
  std::string end(h1::last_chunk_bytes(trailers.wire()), '\0');
  h1::write_last_chunk(trailers.wire(), end.data());
  output.append(end);
}

}  // namespace skua::body
