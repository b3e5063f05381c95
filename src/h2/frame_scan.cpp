// SPDX-License-Identifier: MIT
// Bytes in, heads of frames out:
//
//   +-----------------------+---------+---------+-+-----------------+
//   | length (24)           | type (8)| flags(8)|R| stream id (31)  |  then `length` bytes
//   +-----------------------+---------+---------+-+-----------------+
//
// Payloads are skipped, but for the few bytes that tell a cheap frame from a useful one.
#include "h2/frame_scan.hpp"

#include <algorithm>
#include <cstring>

namespace skua::h2 {
namespace {

constexpr std::uint32_t reserved_bit = 0x8000'0000U;

std::uint32_t big_endian(const unsigned char* bytes, std::size_t count) noexcept {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < count; ++i) number = number << 8U | bytes[i];
  return number;
}

/// How many bytes of its payload belong to a FrameHead.
std::size_t first_bytes(const FrameHead& head) noexcept {
  const bool has_number = head.type == FrameType::WindowUpdate || head.type == FrameType::Priority;
  if (has_number && head.length_bytes >= 4) return 4;
  const bool is_padded_data = head.type == FrameType::Data && head.has(frame_flags::padded);
  return is_padded_data && head.length_bytes != 0 ? 1 : 0;
}

}  // namespace

std::size_t FrameScan::wanted_bytes() const noexcept {
  return kept_ < frame_header_bytes ? frame_header_bytes : frame_header_bytes + first_bytes(head_);
}

void FrameScan::read_head() noexcept {
  const unsigned char* const at = bytes_.data();
  head_ = {.length_bytes = big_endian(at, 3),
           .stream_id = big_endian(at + 5, 4) & ~reserved_bit,
           .type = static_cast<FrameType>(at[3]),
           .flags = at[4],
           .first = 0};
}

const FrameHead* FrameScan::next(std::string_view& input) noexcept {
  const std::size_t skipped = std::min(skipped_bytes_, input.size());
  input.remove_prefix(skipped);
  skipped_bytes_ -= skipped;
  while (!input.empty()) {
    const std::size_t taken = std::min(wanted_bytes() - kept_, input.size());
    std::memcpy(bytes_.data() + kept_, input.data(), taken);
    input.remove_prefix(taken);
    kept_ += taken;
    if (kept_ == frame_header_bytes) read_head();
    if (kept_ < wanted_bytes()) continue;
    const std::size_t first = kept_ - frame_header_bytes;
    head_.first = big_endian(bytes_.data() + frame_header_bytes, first);
    if (first == 4) head_.first &= ~reserved_bit;
    skipped_bytes_ = head_.length_bytes - first;
    kept_ = 0;
    return &head_;
  }
  return nullptr;
}

}  // namespace skua::h2
