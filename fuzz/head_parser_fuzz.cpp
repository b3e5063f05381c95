// SPDX-License-Identifier: MIT
// In: a seed for splits, then the bytes of a head. Checked: the outcome does not depend on how the
// bytes are split, nor on the instruction set; an accepted head has only views into its own bytes,
// and no field that could end a line.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.hpp"
#include "base/scan/scan.hpp"
#include "h1/framing.hpp"
#include "h1/head_parser.hpp"

namespace {

using skua::h1::HeadKind;
using skua::h1::HeadParser;
using skua::h1::ParseStatus;

constexpr skua::h1::HeadLimits small{
    .target_bytes = 300, .field_line_bytes = 400, .head_bytes = 2000, .fields = 24};

void check(bool holds) {
  if (!holds) std::abort();
}

// Formats the full outcome of a parse as text.
std::string outcome(const HeadParser& parser, ParseStatus status, std::string_view bytes) {
  if (status == ParseStatus::NeedMore) return "more";
  if (status == ParseStatus::Failed) {
    return "error " + std::to_string(static_cast<int>(parser.error()));
  }
  const skua::http::Head& head = parser.head();
  check(head.size_bytes <= bytes.size() && head.size_bytes <= small.head_bytes);
  std::string text = "head " + std::to_string(head.size_bytes);
  text.append(" ").append(head.method_name()).append(" ").append(std::to_string(head.status));
  text.append(" ").append(head.target()).append(" ").append(std::to_string(head.minor_version));
  for (const skua::http::FieldLine& line : head.fields) {
    check(skua::ascii::is_token_text(head.name(line)));
    for (const char c : head.value(line)) check(skua::ascii::is_field_value(c));
    text.append("\n").append(head.name(line)).append(":").append(head.value(line));
    text.append(" ").append(std::to_string(static_cast<int>(line.name)));
  }
  return text;
}

std::string parse_in_pieces(HeadKind kind, skua::scan::Isa isa, std::string_view bytes,
                            std::uint32_t seed) {
  std::array<skua::http::FieldLine, 24> lines;
  HeadParser parser(kind, small, lines, isa);
  ParseStatus status = ParseStatus::NeedMore;
  for (std::size_t end = 0; status == ParseStatus::NeedMore && end < bytes.size();) {
    seed = seed * 1664525U + 1013904223U;
    end += 1 + (seed >> 24U) % ((seed >> 16U & 1U) != 0 ? 3 : 60);
    // A copy of exactly these bytes, at another address each time.
    const std::string received(bytes.substr(0, end));
    status = parser.parse(received);
    if (status != ParseStatus::NeedMore || end >= bytes.size()) {
      return outcome(parser, status, received);
    }
  }
  return outcome(parser, status, bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::uint32_t seed = data[0] | static_cast<std::uint32_t>(data[1]) << 8U;
  const auto kind = static_cast<HeadKind>(data[2] % 3);
  const std::vector<char> copy(data + 3, data + size);  // exactly sized, for sanitizers
  const std::string_view bytes(copy.data(), copy.size());

  std::array<skua::http::FieldLine, 24> lines;
  HeadParser whole(kind, small, lines);
  const ParseStatus status = bytes.empty() ? ParseStatus::NeedMore : whole.parse(bytes);
  const std::string expected = outcome(whole, status, bytes);
  if (status == ParseStatus::Complete && kind == HeadKind::Request) {
    static_cast<void>(skua::h1::frame_request(whole.head()));
  }
  if (status == ParseStatus::Complete && kind == HeadKind::Response) {
    static_cast<void>(skua::h1::frame_response(whole.head(), skua::Method::Get));
  }
  for (const auto isa : {skua::scan::Isa::Portable, skua::scan::Isa::Sse42, skua::scan::Isa::Avx2,
                         skua::scan::Isa::Neon}) {
    if (skua::scan::is_supported(isa)) check(parse_in_pieces(kind, isa, bytes, seed) == expected);
  }
  return 0;
}
