// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "h2/frame.hpp"

/// Handmade HTTP/2 frames for tests, including invalid ones.
namespace skua::h2::frames {

inline std::string number(std::uint32_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = bytes; i-- > 0;) text += static_cast<char>(value >> (8 * i) & 0xffU);
  return text;
}

inline std::string frame(FrameType type, unsigned flags, std::uint32_t id,
                         std::string_view payload = {}) {
  std::string text = number(static_cast<std::uint32_t>(payload.size()), 3);
  text += static_cast<char>(type);
  text += static_cast<char>(flags);
  return text.append(number(id, 4)).append(payload);
}

// HPACK without Huffman coding. RFC 7541 §5, §6

inline std::string hpack_integer(unsigned first_bits, unsigned prefix_bits, std::size_t value) {
  const std::size_t most = (std::size_t{1} << prefix_bits) - 1;
  if (value < most) return {static_cast<char>(first_bits | value)};
  std::string text{static_cast<char>(first_bits | most)};
  for (value -= most; value >= 128; value /= 128) text += static_cast<char>(value % 128 | 128U);
  return text += static_cast<char>(value);
}
inline std::string hpack_text(std::string_view text) {
  return hpack_integer(0, 7, text.size()).append(text);
}
/// A literal field without indexing.
inline std::string field(std::string_view name, std::string_view value) {
  return std::string(1, '\0') + hpack_text(name) + hpack_text(value);
}
/// A literal field with incremental indexing; the newest has index 62.
inline std::string remembered(std::string_view name, std::string_view value) {
  return "\x40" + hpack_text(name) + hpack_text(value);
}
inline std::string indexed(std::size_t index) { return hpack_integer(0x80, 7, index); }

using Fields = std::vector<std::pair<std::string, std::string>>;

inline std::string block(const Fields& fields) {
  std::string text;
  for (const auto& [name, value] : fields) text += field(name, value);
  return text;
}
/// The pseudo-header fields of a request, and then `more`.
inline std::string request_block(std::string_view method, std::string_view path,
                                 const Fields& more = {}) {
  return field(":method", method) + field(":scheme", "http") + field(":authority", "h.example") +
         field(":path", path) + block(more);
}

// Frames. RFC 9113 §6

inline constexpr unsigned end = frame_flags::end_stream;
inline constexpr unsigned whole = frame_flags::end_stream | frame_flags::end_headers;
inline constexpr unsigned open = frame_flags::end_headers;

inline std::string headers(std::uint32_t id, std::string_view fields, unsigned flags = whole) {
  return frame(FrameType::Headers, flags, id, fields);
}
inline std::string get(std::uint32_t id, std::string_view path = "/") {
  return headers(id, request_block("GET", path));
}
inline std::string post(std::uint32_t id, const Fields& more = {}) {
  return headers(id, request_block("POST", "/", more), open);
}
inline std::string continuation(std::uint32_t id, std::string_view fields, unsigned flags) {
  return frame(FrameType::Continuation, flags, id, fields);
}
inline std::string data(std::uint32_t id, std::string_view text, unsigned flags = 0) {
  return frame(FrameType::Data, flags, id, text);
}
inline std::string padded_data(std::uint32_t id, std::string_view text, std::uint8_t padding,
                               unsigned flags = 0) {
  return frame(FrameType::Data, flags | frame_flags::padded, id,
               static_cast<char>(padding) + std::string(text) + std::string(padding, '\0'));
}
inline std::string reset(std::uint32_t id, ErrorCode code = ErrorCode::Cancel) {
  return frame(FrameType::RstStream, 0, id, number(static_cast<std::uint32_t>(code), 4));
}
inline std::string settings(const std::vector<std::pair<unsigned, std::uint32_t>>& values = {}) {
  std::string text;
  for (const auto& [id, value] : values) text += number(id, 2) + number(value, 4);
  return frame(FrameType::Settings, 0, 0, text);
}
inline std::string settings_ack() { return frame(FrameType::Settings, frame_flags::ack, 0); }
inline std::string ping(std::string_view payload = "12345678") {
  return frame(FrameType::Ping, 0, 0, payload);
}
inline std::string window_update(std::uint32_t id, std::uint32_t increment) {
  return frame(FrameType::WindowUpdate, 0, id, number(increment, 4));
}
inline std::string priority(std::uint32_t id, std::uint32_t parent, std::uint8_t weight = 15) {
  return frame(FrameType::Priority, 0, id, number(parent, 4) + static_cast<char>(weight));
}
inline std::string priority_update(std::uint32_t id, std::string_view value) {
  return frame(FrameType::PriorityUpdate, 0, 0, number(id, 4).append(value));
}
inline std::string goaway(std::uint32_t last_id, ErrorCode code) {
  return frame(FrameType::Goaway, 0, 0,
               number(last_id, 4) + number(static_cast<std::uint32_t>(code), 4));
}
/// The client preface and SETTINGS, with the ACK of our SETTINGS already sent.
inline std::string hello(const std::vector<std::pair<unsigned, std::uint32_t>>& values = {}) {
  return std::string(client_preface) + settings(values) + settings_ack();
}

/// A parsed frame.
struct Frame {
  FrameHead head;
  std::string payload;

  [[nodiscard]] std::uint32_t number_at(std::size_t place) const {
    std::uint32_t value = 0;
    for (std::size_t i = place; i < place + 4 && i < payload.size(); ++i) {
      value = value << 8U | static_cast<unsigned char>(payload[i]);
    }
    return value;
  }
};

/// Splits written bytes into frames.
inline std::vector<Frame> split(std::string_view bytes) {
  std::vector<Frame> found;
  while (bytes.size() >= frame_header_bytes) {
    Frame frame{.head = FrameHead::read(bytes.data()), .payload = {}};
    frame.payload = bytes.substr(frame_header_bytes, frame.head.length_bytes);
    bytes.remove_prefix(std::min(bytes.size(), frame_header_bytes + frame.payload.size()));
    found.push_back(std::move(frame));
  }
  return found;
}

/// Describes frames as one line, e.g. `SETTINGS HEADERS(1) DATA(1)! RST_STREAM(3,CANCEL)`; `!` is
/// END_STREAM, `+` is ACK.
inline std::string describe(std::string_view bytes) {
  std::string text;
  for (const Frame& frame : split(bytes)) {
    if (!text.empty()) text += ' ';
    const std::string id = std::to_string(frame.head.stream_id);
    const bool has_first_bit = frame.head.has(frame_flags::end_stream);
    switch (frame.head.type) {
      case FrameType::Data: text += "DATA(" + id + ")" + (has_first_bit ? "!" : ""); break;
      case FrameType::Headers: text += "HEADERS(" + id + ")" + (has_first_bit ? "!" : ""); break;
      case FrameType::Settings: text += has_first_bit ? "SETTINGS+" : "SETTINGS"; break;
      case FrameType::Ping: text += has_first_bit ? "PING+" : "PING"; break;
      case FrameType::WindowUpdate: text += "WINDOW_UPDATE(" + id + ")"; break;
      case FrameType::RstStream:
        text.append("RST_STREAM(" + id + ",")
            .append(name(static_cast<ErrorCode>(frame.number_at(0))))
            .append(")");
        break;
      case FrameType::Goaway:
        text.append("GOAWAY(" + std::to_string(frame.number_at(0)) + ",")
            .append(name(static_cast<ErrorCode>(frame.number_at(4))))
            .append(")");
        break;
      default: text += "FRAME" + std::to_string(static_cast<unsigned>(frame.head.type)); break;
    }
  }
  return text;
}

}  // namespace skua::h2::frames
