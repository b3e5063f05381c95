// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "h2/frame.hpp"
#include "h2/hpack_decoder.hpp"
#include "support/client.hpp"
#include "support/h2_frames.hpp"
#include "support/hpack.hpp"

namespace skua::testing {

/// An HTTP/2 peer that sends exactly the given frames, and reads those of the other side one by
/// one. SETTINGS are acknowledged.
class H2Peer {
 public:
  using Fields = h2::frames::Fields;
  using Settings = std::vector<std::pair<unsigned, std::uint32_t>>;

  /// A client, on a connection without TLS.
  static H2Peer client(Client& wire, const Settings& settings = {}) {
    wire.send(std::string(h2::client_preface) + h2::frames::settings(settings));
    return H2Peer(wire);
  }
  /// A server.
  static H2Peer server(Client& wire, const Settings& settings = {}) {
    H2Peer peer(wire);
    while (peer.received_.size() < h2::client_preface.size()) {
      const std::string more = wire.some();
      if (more.empty()) break;
      peer.received_.append(more);
    }
    EXPECT_TRUE(peer.received_.starts_with(h2::client_preface));
    peer.received_.erase(0, h2::client_preface.size());
    wire.send(h2::frames::settings(settings));
    return peer;
  }

  void send(std::string_view frames) { wire_.send(frames); }

  /// Returns the next frame other than SETTINGS, PING and WINDOW_UPDATE; nullopt at the end.
  std::optional<h2::frames::Frame> next() {
    while (std::optional<h2::frames::Frame> frame = any()) {
      if (frame->head.stream_id == ignored_ && ignored_ != 0) continue;
      switch (frame->head.type) {
        case h2::FrameType::Settings:
          if (!frame->head.has(h2::frame_flags::ack)) wire_.send(h2::frames::settings_ack());
          break;
        case h2::FrameType::Ping:
        case h2::FrameType::WindowUpdate: break;
        default: last_ = h2::frames::describe(bytes_); return frame;
      }
    }
    last_ = "the end";
    return std::nullopt;
  }
  /// Returns the next frame as one word, see h2::frames::describe(); `the end` at the end.
  std::string word() {
    next_ = next();
    return last_;
  }
  /// The frame that word() described.
  [[nodiscard]] const h2::frames::Frame& frame() const { return *next_; }
  /// Reads the next frame, which must be HEADERS, and returns its fields.
  Fields head() {
    const std::string what = word();
    EXPECT_TRUE(what.starts_with("HEADERS")) << what;
    if (!what.starts_with("HEADERS")) return {};
    return h2::hpack::decode(*decoder_, next_->payload).value_or(Fields());
  }
  /// Reads the content of a stream, and returns it. The word of the frame that ends it is last().
  std::string content() {
    std::string all;
    while (true) {
      const std::string what = word();
      if (!what.starts_with("DATA")) return all;
      all.append(next_->payload);
      if (what.ends_with("!")) return all;
    }
  }
  /// Reads until the other side has closed the connection.
  void finish() {
    while (next()) {
    }
  }
  /// Skips further frames of a stream, which must not be HEADERS.
  void ignore(std::uint32_t id) noexcept { ignored_ = id; }
  [[nodiscard]] const std::string& last() const noexcept { return last_; }
  /// The fields of the HEADERS that content() ended with.
  Fields trailers() { return h2::hpack::decode(*decoder_, next_->payload).value_or(Fields()); }

  static std::optional<std::string> find(const Fields& fields, std::string_view name) {
    const auto found =
        std::ranges::find_if(fields, [&](const auto& field) { return field.first == name; });
    return found != fields.end() ? std::optional(found->second) : std::nullopt;
  }

 private:
  explicit H2Peer(Client& wire) : wire_(wire) {}

  std::optional<h2::frames::Frame> any() {
    while (true) {
      if (received_.size() >= h2::frame_header_bytes) {
        const h2::FrameHead head = h2::FrameHead::read(received_.data());
        const std::size_t size = h2::frame_header_bytes + head.length_bytes;
        if (received_.size() >= size) {
          bytes_ = received_.substr(0, size);
          received_.erase(0, size);
          return h2::frames::split(bytes_).front();
        }
      }
      const std::string more = wire_.some();
      if (more.empty()) return std::nullopt;
      received_.append(more);
    }
  }

  Client& wire_;
  std::string received_;
  std::string bytes_;  // of the last frame
  std::string last_;
  std::optional<h2::frames::Frame> next_;
  std::unique_ptr<h2::HpackDecoder> decoder_ = std::make_unique<h2::HpackDecoder>();
  std::uint32_t ignored_ = 0;
};

}  // namespace skua::testing
