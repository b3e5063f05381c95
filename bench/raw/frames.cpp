// SPDX-License-Identifier: MIT
//
// In: the bytes of WebSocket frames. Out: their sizes, and the frames that echo them.
// The idea: without its mask a frame is four bytes shorter, so only the head moves, and the payload
// is not copied.

#include "frames.hpp"

#include <cstdint>
#include <cstring>

namespace bench::raw {
namespace {

constexpr std::size_t mask_bytes = 4;
constexpr unsigned masked = 0x80;

unsigned byte(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

// Returns the size of the head without its mask, given the 7-bit length.
std::size_t head_bytes(unsigned length) { return length < 126 ? 2 : length == 126 ? 4 : 10; }

void apply_mask(char* bytes, std::size_t size, const char* key) noexcept {
  std::uint32_t narrow = 0;
  std::memcpy(&narrow, key, mask_bytes);
  const std::uint64_t wide = std::uint64_t{narrow} << 32 | narrow;
  std::size_t at = 0;
  for (; at + sizeof wide <= size; at += sizeof wide) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
    word ^= wide;
    std::memcpy(bytes + at, &word, sizeof word);
  }
  for (; at < size; ++at) bytes[at] = static_cast<char>(bytes[at] ^ key[at % mask_bytes]);
}

std::string head(bool is_text, std::size_t size, unsigned mask_bit) {
  const std::size_t more = size < 126 ? 0 : size <= 0xFFFF ? 2 : 8;
  const std::size_t length = more == 0 ? size : more == 2 ? 126 : 127;
  std::string bytes{static_cast<char>(is_text ? 0x81 : 0x82), static_cast<char>(length | mask_bit)};
  for (std::size_t left = more; left != 0; --left) {
    bytes.push_back(static_cast<char>(size >> (8 * (left - 1)) & 0xFF));
  }
  return bytes;
}

}  // namespace

std::size_t needed_bytes(std::string_view start) noexcept {
  if (start.size() < 2) return 2;
  const unsigned second = byte(start, 1);
  if ((second & masked) == 0) return 0;
  std::size_t payload = second & 0x7F;
  const std::size_t before = head_bytes(second & 0x7F);
  if (start.size() < before) return before;
  if (before > 2) payload = 0;
  for (std::size_t at = 2; at < before; ++at) {
    payload = payload << 8 | byte(start, at);
    if (payload > max_payload_bytes) return 0;
  }
  return before + mask_bytes + payload;
}

std::string_view answer_in_place(char* frame, std::size_t size) noexcept {
  const std::size_t before = head_bytes(static_cast<unsigned char>(frame[1]) & 0x7F);
  char* const payload = frame + before + mask_bytes;
  apply_mask(payload, size - before - mask_bytes, frame + before);
  frame[1] = static_cast<char>(frame[1] & 0x7F);
  std::memmove(frame + mask_bytes, frame, before);
  return {frame + mask_bytes, size - mask_bytes};
}

std::string server_frame(bool is_text, std::string_view payload) {
  return head(is_text, payload.size(), 0).append(payload);
}

std::string client_frame(bool is_text, std::string_view payload, std::string_view key) {
  std::string frame = head(is_text, payload.size(), masked);
  frame.append(key).append(payload);
  apply_mask(frame.data() + frame.size() - payload.size(), payload.size(), key.data());
  return frame;
}

}  // namespace bench::raw
