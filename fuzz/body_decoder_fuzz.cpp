// SPDX-License-Identifier: MIT
// In: a seed for splits, then a request with its body. Checked: content, trailers, end and error
// do not depend on how the bytes are split, and the limits hold.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "h1/body_decoder.hpp"
#include "h1/framing.hpp"
#include "h1/head_parser.hpp"

namespace {

using skua::h1::BodyDecoder;
using skua::h1::BodyStatus;

constexpr skua::h1::BodyLimits small{
    .body_bytes = 500, .extension_bytes = 40, .trailer_bytes = 200, .trailer_fields = 6};

void check(bool holds) {
  if (!holds) std::abort();
}

std::string decode(const skua::h1::Framing& framing, std::string_view bytes, std::uint32_t seed) {
  BodyDecoder decoder;
  std::string content;
  if (const auto started = decoder.start(framing, small); !started) return "too long";
  BodyStatus status = decoder.is_done() ? BodyStatus::Done : BodyStatus::More;
  std::size_t used = 0;
  for (std::size_t end = 0; status == BodyStatus::More && end < bytes.size();) {
    seed = seed * 1664525U + 1013904223U;
    end = seed == 0 ? bytes.size() : std::min(bytes.size(), end + 1 + (seed >> 26U));
    while (status == BodyStatus::More && used < end) {
      const std::string piece(bytes.substr(used, end - used));
      const BodyDecoder::Step step = decoder.step(piece);
      check(step.consumed_bytes <= piece.size());
      used += step.consumed_bytes;
      content.append(step.data);
      status = step.status;
      if (status == BodyStatus::More) check(step.consumed_bytes != 0);
    }
  }
  check(content.size() == decoder.content_bytes() && content.size() <= small.body_bytes);
  std::string text = content + "\n";
  if (status == BodyStatus::Failed) {
    return text + "error " + std::to_string(static_cast<int>(decoder.error()));
  }
  if (status == BodyStatus::More) return text + "more";
  text += "done " + std::to_string(used);
  const skua::http::Head& trailers = decoder.trailers();
  for (const skua::http::FieldLine& line : trailers.fields) {
    text.append("\n").append(trailers.name(line)).append(":").append(trailers.value(line));
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::uint32_t seed = 1U + (data[0] | static_cast<std::uint32_t>(data[1]) << 8U);
  const std::string bytes(reinterpret_cast<const char*>(data + 2), size - 2);
  std::array<skua::http::FieldLine, 128> lines;
  skua::h1::HeadParser parser(skua::h1::HeadKind::Request, {}, lines);
  if (parser.parse(bytes) != skua::h1::ParseStatus::Complete) return 0;
  const auto framing = skua::h1::frame_request(parser.head());
  if (!framing) return 0;
  const std::string body = bytes.substr(parser.head().size_bytes);
  const std::string in_pieces = decode(*framing, body, seed);
  const std::string byte_by_byte = decode(*framing, body, seed * 7U + 1U);
  check(in_pieces == byte_by_byte);
  return 0;
}
