// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.hpp"
#include "h2/frame.hpp"
#include "h2_judge_session.hpp"
#include "http/message/field.hpp"
#include "http/message/trailers.hpp"

/// A third reading of frames and field sections, beside the two implementations compared; small
/// enough to verify by eye.
namespace judge {

using skua::h2::ErrorCode;
using skua::h2::FrameHead;
using skua::h2::FrameType;
using skua::h2::Setting;
namespace flag = skua::h2::frame_flags;

struct Frame {
  FrameHead head;
  std::string_view payload;
  std::string_view bytes;  ///< head and payload

  /// Returns the number at this offset, or 0 if the payload is too short.
  [[nodiscard]] std::uint32_t number_at(std::size_t at) const {
    return payload.size() >= at + 4 ? skua::h2::read_number(payload.data() + at) : 0;
  }
  [[nodiscard]] bool is_padded() const {
    const bool may_be = head.type == FrameType::Data || head.type == FrameType::Headers;
    return may_be && head.has(flag::padded);
  }
  [[nodiscard]] bool has_priority() const {
    return head.type == FrameType::Headers && head.has(flag::priority);
  }
  [[nodiscard]] bool ends_stream() const {
    const bool may = head.type == FrameType::Data || head.type == FrameType::Headers;
    return may && head.has(flag::end_stream);
  }
  /// Returns the payload without padding and priority, or nullopt if these exceed the frame.
  [[nodiscard]] std::optional<std::string_view> content() const {
    std::string_view rest = payload;
    std::size_t pad_bytes = 0;
    if (is_padded()) {
      if (rest.empty()) return std::nullopt;
      pad_bytes = static_cast<unsigned char>(rest[0]);
      rest.remove_prefix(1);
    }
    if (has_priority()) {
      if (rest.size() < skua::h2::priority_bytes) return std::nullopt;
      rest.remove_prefix(skua::h2::priority_bytes);
    }
    if (pad_bytes > rest.size()) return std::nullopt;
    return rest.substr(0, rest.size() - pad_bytes);
  }
  /// RFC 7540 §5.3.1. RFC 9113 §5.3.2 deprecates priorities, and does not cover their errors.
  [[nodiscard]] bool depends_on_itself() const {
    const bool says = has_priority() || head.type == FrameType::Priority;
    return says && (number_at(is_padded() ? 1 : 0) & 0x7fff'ffffU) == head.stream_id;
  }
};

/// Removes and returns the next frame; nullopt if incomplete. An oversized frame may be partial.
inline std::optional<Frame> take_frame(std::string_view& bytes) {
  constexpr std::size_t head_bytes = skua::h2::frame_header_bytes;
  if (bytes.size() < head_bytes) return std::nullopt;
  const FrameHead head = FrameHead::read(bytes.data());
  const bool is_whole = bytes.size() - head_bytes >= head.length_bytes;
  if (!is_whole && head.length_bytes <= skua::h2::first_frame_bytes) return std::nullopt;
  const Frame frame{.head = head,
                    .payload = bytes.substr(head_bytes, head.length_bytes),
                    .bytes = bytes.substr(0, head_bytes + std::size_t{head.length_bytes})};
  bytes.remove_prefix(frame.bytes.size());
  return frame;
}

/// Reports whether the length is invalid for a frame of this type. RFC 9113 §4.2, §6
inline bool has_wrong_size(const FrameHead& head) {
  const std::uint32_t length = head.length_bytes;
  if (length > skua::h2::first_frame_bytes) return true;
  switch (head.type) {
    case FrameType::Priority: return length != skua::h2::priority_bytes;
    case FrameType::RstStream:
    case FrameType::WindowUpdate: return length != 4;
    case FrameType::Settings:
      return length % skua::h2::setting_bytes != 0 || (head.has(flag::ack) && length != 0);
    case FrameType::Ping: return length != 8;
    case FrameType::Goaway: return length < 8;
    case FrameType::PriorityUpdate: return length < 4;
    default: return false;
  }
}

/// Reports whether a stream frame has stream id 0, or a connection frame another one. RFC 9113 §6,
/// 9218 §7.1
inline bool is_on_wrong_stream(const FrameHead& head) {
  switch (head.type) {
    case FrameType::Data:
    case FrameType::Headers:
    case FrameType::Priority:
    case FrameType::RstStream:
    case FrameType::Continuation: return head.stream_id == 0;
    case FrameType::Settings:
    case FrameType::Ping:
    case FrameType::Goaway:
    case FrameType::PriorityUpdate: return head.stream_id != 0;
    default: return false;
  }
}

// Field sections ----------------------------------------------------------------------------------

inline const std::string* find(const Fields& fields, std::string_view name) {
  for (const auto& field : fields) {
    if (field.first == name) return &field.second;
  }
  return nullptr;
}

inline bool is_connect(const Fields& fields) {
  const std::string* const method = find(fields, ":method");
  return method != nullptr && *method == "CONNECT";
}

/// Formats trailers as an application sees them: only fields allowed there. RFC 9110 §6.5.1
inline std::string write_trailers(const Fields& fields) {
  std::string text = "trailers\n";
  for (const auto& [name, value] : fields) {
    const skua::http::FieldName known = skua::http::find_field_name(name);
    if (skua::http::is_allowed_in_trailers(known, name)) {
      text.append(name).append(": ").append(value).append("\n");
    }
  }
  return text;
}

/// Formats a request or its trailers: `:authority` becomes `host` (RFC 9113 §8.3.1), and cookie
/// crumbs are joined (§8.2.3).
inline std::string write_request(const Fields& fields) {
  const auto text = [&](std::string_view name) {
    const std::string* const value = find(fields, name);
    return value != nullptr ? *value : std::string();
  };
  if (find(fields, ":method") == nullptr) return write_trailers(fields);
  const bool is_https = skua::ascii::equals_ignoring_case(text(":scheme"), "https");
  std::string written = text(":method") + " " + text(":path") + (is_https ? " https " : " http ") +
                        text(":protocol") + "\n";
  std::string cookies;  // each followed by "; "
  for (const auto& [name, value] : fields) {
    if (name == "cookie") cookies.append(value).append("; ");
  }
  bool has_cookies = false;
  for (const auto& [name, value] : fields) {
    if (name == ":authority") {
      written.append("host: ").append(value).append("\n");
    } else if (name[0] == ':' || (name == "host" && find(fields, ":authority") != nullptr)) {
      continue;
    } else if (name != "cookie") {
      written.append(name).append(": ").append(value).append("\n");
    } else if (!has_cookies) {
      has_cookies = true;
      written.append("cookie: ").append(cookies, 0, cookies.size() - 2).append("\n");
    }
  }
  return written;
}

/// Formats a response or its trailers.
inline std::string write_response(const Fields& fields) {
  if (find(fields, ":status") == nullptr) return write_trailers(fields);
  std::string written;
  for (const auto& [name, value] : fields) {
    written.append(name).append(": ").append(value).append("\n");
  }
  return written;
}

}  // namespace judge
