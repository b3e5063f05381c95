// SPDX-License-Identifier: MIT
// In: a coding, a piece size, and bytes that claim to be in that coding. Checked: decoding ends,
// stays within its limits, and has the same result at once and in pieces; encoded text decodes to
// the original.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "coding/coding.hpp"

namespace {

using skua::coding::Coding;
using skua::coding::Decoder;
using skua::coding::Encoder;

constexpr skua::coding::DecodeLimits limits{.output_bytes = 1U << 20U, .ratio = 0};

void check(bool holds) {
  if (!holds) std::abort();
}

std::optional<std::string> decode(Coding coding, std::string_view coded, std::size_t piece) {
  Decoder decoder = *Decoder::create(coding, limits);
  std::string text;
  for (; !coded.empty(); coded.remove_prefix(std::min(piece, coded.size()))) {
    if (!decoder.push(coded.substr(0, piece), text)) return std::nullopt;
    check(text.size() <= limits.output_bytes);
  }
  if (!decoder.finish()) return std::nullopt;
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto coding = static_cast<Coding>(data[0] % 4);
  if (!skua::coding::is_available(coding)) return 0;
  const std::size_t piece = data[1] + std::size_t{1};
  const std::string_view rest(reinterpret_cast<const char*>(data + 2), size - 2);
  check(decode(coding, rest, piece) == decode(coding, rest, rest.size() + 1));

  Encoder encoder = *Encoder::create(coding, skua::coding::levels(coding).fastest);
  std::string coded;
  const std::size_t half = rest.size() / 2;
  check(encoder.push(rest.substr(0, half), coded).has_value());
  if (data[1] % 2 == 0) check(encoder.flush(coded).has_value());
  check(encoder.finish(rest.substr(half), coded).has_value());
  check(decode(coding, coded, piece) == rest);
  return 0;
}
