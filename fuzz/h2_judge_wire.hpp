// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "by_stream.hpp"
#include "h2/frame.hpp"
#include "h2_judge_app.hpp"
#include "h2_judge_rules.hpp"
#include "h2_judge_session.hpp"

/// Our side's output, and nghttp2 in the role of the peer that reads it.
namespace judge {

/// The state of a stream beyond its events.
struct Known {
  bool is_begun = false;
  bool is_in_peer = false;      ///< started by nghttp2 in the peer's role
  bool is_ended = false;        ///< by us, with END_STREAM
  bool has_peer_ended = false;  ///< with END_STREAM or RST_STREAM
  bool is_reset = false;        ///< by either side
  bool is_connect_with_length = false;
  bool is_answered = false;         ///< by the peer, including interim responses
  bool has_response = false;        ///< the final one
  std::int64_t received_bytes = 0;  ///< received, minus window updates sent
  std::int64_t room_bytes = 0;      ///< window updates from the peer, minus bytes sent

  [[nodiscard]] bool is_open() const {
    return is_begun && !is_reset && !(is_ended && has_peer_ended);
  }
};

class Wire final {
 public:
  Wire(bool is_server, App& app, ByStream<Known>& known)
      : is_server_(is_server), app_(app), known_(known), peer_(!is_server, {}, write_plainly) {}

  /// Checks the output that this frame caused: the peer must read what was sent.
  void take(const Frame& frame) {
    std::string_view output = app_.output;
    if (!is_server_ && !has_greeted_) {
      check(output.starts_with(skua::h2::client_preface));
      peer_.receive(skua::h2::client_preface);
      output.remove_prefix(skua::h2::client_preface.size());
      has_greeted_ = true;
    }
    while (const std::optional<Frame> written = take_frame(output)) {
      look_at(*written, frame);
      show(*written);
    }
    check(output.empty());
    app_.output.clear();
    check(!peer_.failure && !peer_.has_complained);
    for (auto& [id, told] : peer_.told) told.closed_with = told.reset_with = std::nullopt;
    check(are_same(app_.sent, peer_.told));
    for (const auto& [id, told] : app_.sent) {
      if (is_server_ && told.is_ended) end_in_peer(id);
    }
    app_.sent.clear();
    peer_.told.clear();
  }
  /// Ends a stream in the peer, whose own half of it does not matter here.
  void end_in_peer(std::uint32_t id) {
    if (known_[id].is_in_peer) peer_.reset(id, NGHTTP2_CANCEL);
    peer_.told.clear();
  }

  std::size_t acknowledged_count = 0;  ///< acknowledged SETTINGS
  std::optional<ErrorCode> failure;    ///< the code in GOAWAY

 private:
  void look_at(const Frame& written, const Frame& frame) {
    const std::uint32_t id = written.head.stream_id;
    check(!has_wrong_size(written.head) && !is_on_wrong_stream(written.head) && !failure);
    Known& known = known_[id];
    check(id == 0 || !known.is_reset);
    switch (written.head.type) {
      case FrameType::Headers:
      case FrameType::Data:
        check(!known.is_ended);
        known.is_ended = written.ends_stream();
        if (written.head.type == FrameType::Data) known.room_bytes -= written.head.length_bytes;
        break;
      case FrameType::RstStream:
        app_.told[id].reset_with = written.number_at(0);
        known.is_reset = true;
        break;
      case FrameType::WindowUpdate:
        check(written.number_at(0) != 0);
        known.received_bytes -= written.number_at(0);
        break;
      case FrameType::Settings:
        if (written.head.has(flag::ack)) ++acknowledged_count;
        break;
      case FrameType::Ping:
        check(frame.head.type == FrameType::Ping && !frame.head.has(flag::ack));
        check(written.head.has(flag::ack) && written.payload == frame.payload);
        break;
      case FrameType::Goaway: failure = static_cast<ErrorCode>(written.number_at(4)); break;
      case FrameType::Continuation: break;
      default: check(false);
    }
  }

  void show(const Frame& written) {
    const std::uint32_t id = written.head.stream_id;
    const bool is_ack = written.head.type == FrameType::Settings && written.head.has(flag::ack);
    // nghttp2 has sent only one SETTINGS.
    if (is_ack && acknowledged_count > 1) return;
    if (is_server_ && written.head.type == FrameType::Headers) begin_in_peer(id);
    if (is_server_ && id != 0 && !known_[id].is_in_peer) return;  // refused, or malformed
    peer_.receive(written.bytes);
    peer_.flush();
  }

  /// Also starts all streams with lower ids, as nghttp2 requires increasing ids.
  void begin_in_peer(std::uint32_t id) {
    for (const auto& [its, method] : app_.methods) {
      Known& known = known_[its];
      if (its > id || its <= peer_id_ || known.is_reset) continue;
      peer_id_ = its;
      known.is_in_peer = true;
      Fields fields{{":method", std::string(skua::name(method))}, {":authority", "h:1"}};
      if (method != skua::Method::Connect) {
        fields.emplace_back(":scheme", "https");
        fields.emplace_back(":path", "/");
      }
      peer_.request(its, fields, std::nullopt);
    }
  }

  const bool is_server_;
  App& app_;
  ByStream<Known>& known_;
  Session peer_;
  std::uint32_t peer_id_ = 0;  // the last stream started in the peer
  bool has_greeted_ = false;
};

}  // namespace judge
