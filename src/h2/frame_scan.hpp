// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace skua::h2 {

/// The types of frames that the standards name. RFC 9113 §6, 9218 §7.1
enum class FrameType : std::uint8_t {
  Data = 0x0,
  Headers = 0x1,
  Priority = 0x2,
  RstStream = 0x3,
  Settings = 0x4,
  PushPromise = 0x5,
  Ping = 0x6,
  Goaway = 0x7,
  WindowUpdate = 0x8,
  Continuation = 0x9,
  PriorityUpdate = 0x10,
};

/// Bits of a frame's flags; which a frame may carry depends on its type. RFC 9113 §6
namespace frame_flags {
inline constexpr std::uint8_t end_stream = 0x1;
inline constexpr std::uint8_t ack = 0x1;
inline constexpr std::uint8_t end_headers = 0x4;
inline constexpr std::uint8_t padded = 0x8;
inline constexpr std::uint8_t priority = 0x20;
}  // namespace frame_flags

inline constexpr std::size_t frame_header_bytes = 9;

/// What a frame's first bytes say. RFC 9113 §4.1
struct FrameHead {
  std::uint32_t length_bytes = 0;  ///< of the payload
  std::uint32_t stream_id = 0;
  FrameType type = FrameType::Data;  ///< may be one that the standards do not name
  std::uint8_t flags = 0;
  /// WINDOW_UPDATE: the increment; PRIORITY: the stream that it depends on; padded DATA: the pad
  /// length; otherwise 0.
  std::uint32_t first = 0;

  [[nodiscard]] bool has(std::uint8_t flag) const noexcept { return (flags & flag) != 0; }
};

/// Walks over the bytes of a connection, frame by frame, without looking into the payloads: what a
/// peer sends can be counted even where the protocol lets it be ignored.
class FrameScan final {
 public:
  /// Behind the preface when `after_bytes` is its length.
  explicit FrameScan(std::size_t after_bytes = 0) noexcept : skipped_bytes_(after_bytes) {}

  /// Takes bytes off the input up to the next frame whose head is known; nothing when the input
  /// ends before: call again with more.
  const FrameHead* next(std::string_view& input) noexcept;
  /// How many bytes at the end of all input belong to a frame head that is not whole.
  [[nodiscard]] std::size_t partial_bytes() const noexcept {
    return kept_ < frame_header_bytes ? kept_ : 0;
  }

  /// Whether the input ended inside a frame. The content of DATA does not count.
  [[nodiscard]] bool is_within_frame() const noexcept {
    return kept_ != 0 || (skipped_bytes_ != 0 && head_.type != FrameType::Data);
  }

 private:
  [[nodiscard]] std::size_t wanted_bytes() const noexcept;
  void read_head() noexcept;

  std::size_t skipped_bytes_;
  std::size_t kept_ = 0;
  std::array<unsigned char, frame_header_bytes + 4> bytes_{};
  FrameHead head_;
};

}  // namespace skua::h2
