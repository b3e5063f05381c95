// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "h2/frame.hpp"

/// Turns a fuzzer's bytes into a peer's frames and an application's actions. Most are nearly valid,
/// to reach deep into a connection.
namespace judge {

using skua::h2::FrameHead;
using skua::h2::FrameType;
using namespace std::string_view_literals;  // NOLINT(google-build-using-namespace)

struct Text {
  std::string_view name{};
  std::string_view value{};
};

/// Valid and invalid fields to add to a plain message.
inline constexpr auto extra_fields = std::to_array<Text>({
    {"x", "y"},
    {"x", ""},
    {"cookie", "a=b"},
    {"cookie", "c=d; e"},
    {"host", "h"},
    {"host", "other"},
    {"host", "H:443"},
    {"content-length", "0"},
    {"content-length", "5"},
    {"content-length", "05"},
    {"content-length", "00"},
    {"content-length", "+5"},
    {"content-length", "9223372036854775807"},
    {"content-length", "9223372036854775808"},
    {"content-length", ""},
    {"te", "trailers"},
    {"te", "gzip"},
    {"connection", "close"},
    {"transfer-encoding", "chunked"},
    {"upgrade", "h2c"},
    {"keep-alive", ""},
    {"proxy-connection", "x"},
    {"X-Upper", "v"},
    {"", "v"},
    {"a b", "v"},
    {"x", " lead"},
    {"x", "trail\t"},
    {"x", "a\0b"sv},
    {"x", "a\rb"},
    {"x", "\x7f"},
    {"x", "a\tb\x80\xff"},
    {"expect", "100-continue"},
    {"expect", "x"},
    {"priority", "u=1, i"},
    {"trailer", "x"},
    {"set-cookie", "a=b"},
    {":path", "/"},
    {":path", ""},
    {":path", "*"},
    {":path", "x"},
    {":path", "/a b"},
    {":path", "/\x80"},
    {":path", "/?q=\"<|#"},
    {":method", "GET"},
    {":method", "get"},
    {":method", "BREW"},
    {":method", "G T"},
    {":method", ""},
    {":scheme", "HTTP"},
    {":scheme", "ftp"},
    {":scheme", "1x"},
    {":authority", "h"},
    {":authority", "u@h"},
    {":authority", "h:443"},
    {":authority", "h/"},
    {":authority", ""},
    {":protocol", "websocket"},
    {":protocol", ""},
    {":status", "200"},
    {":status", "103"},
    {":status", "101"},
    {":status", "099"},
    {":status", "2000"},
    {":status", "20x"},
    {":status", "999"},
    {":unknown", "x"},
});

using Message = std::array<Text, 6>;  // unused entries have no name

inline constexpr auto requests = std::to_array<Message>({
    {{{":method", "GET"}, {":scheme", "https"}, {":authority", "h"}, {":path", "/"}}},
    {{{":method", "POST"},
      {":scheme", "http"},
      {":authority", "h"},
      {":path", "/p?q"},
      {"content-length", "5"}}},
    {{{":method", "PUT"}, {":scheme", "https"}, {":path", "/"}, {"host", "h:8080"}}},
    {{{":method", "HEAD"}, {":scheme", "https"}, {":authority", "h"}, {":path", "/"}}},
    {{{":method", "CONNECT"}, {":authority", "h:443"}}},
    {{{":method", "CONNECT"},
      {":protocol", "websocket"},
      {":scheme", "https"},
      {":authority", "h"},
      {":path", "/chat"}}},
    {{{":method", "OPTIONS"}, {":scheme", "https"}, {":authority", "h"}, {":path", "*"}}},
    {},  // trailers
});

inline constexpr auto responses = std::to_array<Message>({
    {{{":status", "200"}}},
    {{{":status", "200"}, {"content-length", "5"}, {"content-type", "text/plain"}}},
    {{{":status", "204"}, {"content-length", "0"}}},
    {{{":status", "304"}, {"content-length", "5"}, {"etag", "\"x\""}}},
    {{{":status", "100"}}},
    {{{":status", "103"}, {"link", "</x>; rel=preload"}}},
    {{{":status", "404"}, {"server", "s"}, {"date", "Sun, 06 Nov 1994 08:49:37 GMT"}}},
    {},  // trailers
});

/// Reads bytes as operations, and passes each to a `Player`: play(bytes) and reset(stream id),
/// which return false at the end.
class Input final {
 public:
  Input(std::string_view bytes, bool is_server) noexcept : bytes_(bytes), is_server_(is_server) {}

  template <class Player>
  void run(Player& player) {
    while (!bytes_.empty()) {
      const unsigned op = byte() % 16;
      const bool goes_on = op == 15 ? player.reset(stream_id()) : player.play(frames(op));
      if (!goes_on) return;
    }
  }

 private:
  unsigned byte() noexcept {
    if (bytes_.empty()) return 0;
    const auto first = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    return first;
  }
  std::uint32_t number() noexcept {
    const std::uint32_t high = byte();
    return high << 24U | byte() << 16U | byte() << 8U | byte();
  }
  std::string_view some(std::size_t bytes) noexcept {
    const std::string_view taken = bytes_.substr(0, bytes);
    bytes_.remove_prefix(taken.size());
    return taken;
  }

  /// Returns a stream id, mostly the latest one or the next.
  std::uint32_t stream_id() noexcept {
    const unsigned which = byte();
    if (which < 128) return latest_;
    if (which < 208) return latest_ = latest_ + 2 < 0x7fff'ffffU ? latest_ + 2 : latest_;
    if (which == 255) return latest_ = number() & 0x7fff'ffffU;
    return which - 208;
  }

  static void put_frame(std::string& out, FrameType type, unsigned flags, std::uint32_t id,
                        std::string_view payload) {
    char head[skua::h2::frame_header_bytes];
    FrameHead{.length_bytes = static_cast<std::uint32_t>(payload.size()),
              .stream_id = id,
              .type = type,
              .flags = static_cast<std::uint8_t>(flags)}
        .write(head);
    out.append(head, sizeof head).append(payload);
  }
  static std::string four(std::uint32_t value) {
    std::string bytes(4, '\0');
    skua::h2::write_number(bytes.data(), value);
    return bytes;
  }
  std::string padded(std::string_view payload, bool is_padded) {
    if (!is_padded) return std::string(payload);
    const unsigned pad_bytes = byte();
    // Sometimes the padding length is too large.
    const std::size_t sent = pad_bytes == 255 ? 0 : pad_bytes;
    return std::string(1, static_cast<char>(pad_bytes)).append(payload).append(sent, '\0');
  }

  std::string frames(unsigned op) {
    std::string out;
    switch (op) {
      case 0:
      case 1:
      case 2:
      case 3: put_head(out, op); break;
      case 4:
      case 5: put_data(out, op == 5); break;
      case 6: put_frame(out, FrameType::RstStream, 0, stream_id(), four(byte() & 15U)); break;
      case 7: {
        const std::uint32_t id = stream_id();
        const unsigned parent = byte();
        put_frame(out, FrameType::Priority, 0, id,
                  four(parent == 0 ? id : parent) + std::string(1, '\x10'));
        break;
      }
      case 8: put_settings(out); break;
      case 9: put_frame(out, FrameType::Settings, skua::h2::frame_flags::ack, 0, {}); break;
      case 10: put_frame(out, FrameType::Ping, byte() & 1U, 0, "12345678"); break;
      case 11: {
        const std::uint32_t id = byte() < 64 ? stream_id() : 0x7fff'ffff;
        put_frame(out, FrameType::Goaway, 0, 0, four(id) + four(byte() & 15U) + "bye");
        break;
      }
      case 12: put_window_update(out); break;
      case 13: {
        const unsigned type = byte() % 20;
        const unsigned flags = byte();
        const std::uint32_t id = (byte() & 1U) == 0 ? 0 : stream_id();
        const std::string_view payload = some(byte() % 32);
        put_frame(out, static_cast<FrameType>(type), flags, id, payload);
        break;
      }
      default: out = some(1 + byte() % 32); break;
    }
    return out;
  }

  void put_window_update(std::string& out) {
    const unsigned what = byte();
    const std::uint32_t id = (what & 1U) == 0 ? 0 : stream_id();
    constexpr std::array<std::uint32_t, 8> increments{
        0, 1, 100, 1000, 0x7fff'0000, 0x7fff'0001, 0x7fff'ffff, 0xffff'ffff};
    put_frame(out, FrameType::WindowUpdate, 0, id, four(increments[what >> 1U & 7U]));
  }

  void put_settings(std::string& out) {
    std::string payload;
    for (unsigned count = byte() % 4; count > 0; --count) {
      constexpr std::array<std::uint32_t, 8> values{0,      1,           2,           100,
                                                    16'384, 0x00ff'ffff, 0x7fff'ffff, 0x8000'0000};
      const unsigned what = byte();
      payload.append(1, '\0').append(1, static_cast<char>(what % 11));
      payload.append(four(values[what / 11 % 8]));
    }
    put_frame(out, FrameType::Settings, 0, 0, payload);
  }

  void put_data(std::string& out, bool is_large) {
    const std::uint32_t id = stream_id();
    const unsigned flags = byte() & 9U;
    const std::size_t size = is_large ? byte() * 65U : byte() % 16;
    const std::string content(size, 'd');
    put_frame(out, FrameType::Data, flags, id,
              padded(content, (flags & skua::h2::frame_flags::padded) != 0));
  }

  static void put_length(std::string& out, std::size_t size) {
    if (size < 127) {
      out.push_back(static_cast<char>(size));
    } else {
      out.push_back('\x7f');
      for (size -= 127; size >= 128; size /= 128)
        out.push_back(static_cast<char>(size % 128 + 128));
      out.push_back(static_cast<char>(size));
    }
  }
  static void put_field(std::string& out, const Text& field, unsigned form) {
    constexpr std::array<char, 4> forms{0x00, 0x40, 0x10, 0x40};
    out.push_back(forms[form % 4]);
    put_length(out, field.name.size());
    out.append(field.name);
    put_length(out, field.value.size());
    out.append(field.value);
  }

  std::string header_block(unsigned op) {
    const unsigned which = byte();
    const Message& message = (is_server_ ? requests : responses)[which % 8];
    std::string base;
    // Sometimes one field of the message is left out.
    const unsigned left_out = op == 3 ? which >> 3U & 7U : 7;
    for (unsigned i = 0; i < message.size(); ++i) {
      if (!message[i].name.empty() && i != left_out) put_field(base, message[i], which >> 6U);
    }
    std::string extra;
    for (unsigned count = op == 0 ? 0 : byte() % 4; count > 0; --count) {
      const unsigned field = byte();
      if (field < 2 * extra_fields.size()) {
        put_field(extra, extra_fields[field % extra_fields.size()], field);
      } else {
        extra.append(some(field % 8));  // arbitrary HPACK
      }
    }
    return op == 2 ? extra + base : base + extra;
  }

  void put_head(std::string& out, unsigned op) {
    namespace flag = skua::h2::frame_flags;
    const std::uint32_t id = stream_id();
    const unsigned what = byte();
    const std::string block = header_block(op);
    const bool is_split = (what & 2U) != 0;
    unsigned flags = (what & 1U) != 0 ? flag::end_stream : 0U;
    if (!is_split) flags |= flag::end_headers;
    std::string fragment = is_split ? block.substr(0, block.size() / 2) : block;
    const std::size_t first_bytes = fragment.size();
    if ((what & 0x18U) == 0x18U) {
      flags |= flag::priority;
      fragment.insert(0, four(byte() == 0 ? id : 0) + '\x10');
    }
    const bool is_padded = (what & 0x60U) == 0x60U;
    if (is_padded) flags |= flag::padded;
    put_frame(out, FrameType::Headers, flags, id, padded(fragment, is_padded));
    if (!is_split) return;
    const bool is_left_open = (what & 0x84U) == 0x84U;
    put_frame(out, FrameType::Continuation, is_left_open ? 0 : flag::end_headers, id,
              std::string_view(block).substr(first_bytes));
  }

  std::string_view bytes_;
  std::uint32_t latest_ = 1;
  bool is_server_;
};

}  // namespace judge
