// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "server/states_table.hpp"
#include "support/h2_frames.hpp"
#include "support/hpack.hpp"

/// The peers of tests/cases/server/states.md: they write requests and describe what they get.
namespace skua::testing {

/// Collects what a server sends, and describes it: `100, 200 "hello"...`.
class SaidByServer {
 public:
  void head(std::string_view status, std::string_view mark = {}) {
    response_ = said_.size();
    said_.push_back({.words = std::string(status), .mark = std::string(mark)});
  }
  void content(std::string_view piece) { said_.at(response_).content += piece; }
  void end() { said_.at(response_).is_whole = true; }
  void event(std::string_view words) {
    said_.push_back({.words = std::string(words), .is_whole = true});
  }

  [[nodiscard]] std::string text() const {
    std::string text;
    for (const Item& item : said_) {
      if (!text.empty()) text += ", ";
      text += item.words;
      if (item.words == "200") text += shown(item.content);
      if (!item.is_whole) text += "...";
      text += item.mark;
    }
    return text.empty() ? "nothing" : text;
  }

 private:
  struct Item {
    std::string words{};
    std::string content{};
    std::string mark{};
    bool is_whole = false;
  };

  static std::string shown(const std::string& content) {
    if (content.size() <= 30) return " \"" + content + "\"";
    return " (" + std::to_string(content.size()) + " bytes)";
  }

  std::vector<Item> said_;
  std::size_t response_ = 0;  // the last one
};

/// A client that makes one request, and then another one.
class StatePeer {
 public:
  explicit StatePeer(const StateRequest& request) : request_(request) {}
  StatePeer(const StatePeer&) = delete;
  StatePeer& operator=(const StatePeer&) = delete;
  virtual ~StatePeer() = default;

  /// Returns the bytes with which the connection begins.
  [[nodiscard]] virtual std::string greeting() const { return {}; }
  /// Returns the bytes of the request that the server gets first.
  virtual std::string begin(std::string_view path) = 0;
  /// Returns the next `bytes` of the content.
  virtual std::string next(std::size_t bytes) = 0;
  /// Returns all that is missing.
  virtual std::string rest() {
    if (is_whole_) throw std::runtime_error("the request is complete");
    return next(request_.content_bytes - sent_bytes_);
  }
  /// Returns the bytes with which the peer cancels its request; nothing if it has to disconnect.
  virtual std::string cancel() { return {}; }
  virtual std::string open_window() { throw std::runtime_error("HTTP/1 has no windows"); }
  [[nodiscard]] virtual std::string another() const = 0;
  [[nodiscard]] virtual std::string describe(std::string_view output) const = 0;
  /// Describes the response to the other request. `row_bytes`: the output before that request.
  [[nodiscard]] virtual std::string describe_another(std::string_view output,
                                                     std::size_t row_bytes) const = 0;
  /// Reports whether the request's stream is open although its connection may be free.
  [[nodiscard]] virtual bool has_open_stream(std::string_view) const { return false; }
  /// Reports whether the server could read another request now.
  [[nodiscard]] virtual bool can_ask() const = 0;

 protected:
  /// Returns the part of the content that comes with the head.
  [[nodiscard]] std::size_t first_bytes() const noexcept {
    if (request_.is_whole()) return request_.content_bytes;
    return request_.arrived == StateRequest::Arrived::Start ? 50 : 0;
  }

  const StateRequest request_;
  std::size_t sent_bytes_ = 0;
  bool is_whole_ = false;  ///< the request is sent
};

class Http1StatePeer final : public StatePeer {
 public:
  using StatePeer::StatePeer;

  std::string begin(std::string_view path) override {
    if (request_.arrived == StateRequest::Arrived::Nothing) return {};
    std::string head(request_.is_get ? "GET " : "POST ");
    head.append(path).append(" HTTP/1.1\r\nHost: h.example\r\n");
    if (request_.expects_continue) head += "Expect: 100-continue\r\n";
    if (request_.says_close) head += "Connection: close\r\n";
    if (request_.is_chunked) {
      head += "Transfer-Encoding: chunked\r\n";
    } else if (!request_.is_get) {
      head += "Content-Length: " + std::to_string(request_.content_bytes) + "\r\n";
    }
    head += "\r\n";
    if (request_.arrived == StateRequest::Arrived::HalfHead) {
      unsent_head_ = head.substr(20);
      return head.substr(0, 20);
    }
    is_whole_ = request_.is_get;
    return request_.is_get || first_bytes() == 0 ? head : head + next(first_bytes());
  }
  std::string next(std::size_t bytes) override {
    sent_bytes_ += bytes;
    is_whole_ = sent_bytes_ == request_.content_bytes;
    const std::string content(bytes, 'x');
    if (!request_.is_chunked) return content;
    std::array<char, 20> digits;
    const auto end = std::to_chars(digits.begin(), digits.end(), bytes, 16).ptr;
    return std::string(digits.begin(), end) + "\r\n" + content +
           (is_whole_ ? "\r\n0\r\n\r\n" : "\r\n");
  }
  std::string rest() override {
    if (unsent_head_.empty()) return StatePeer::rest();
    is_whole_ = true;
    return unsent_head_;
  }
  [[nodiscard]] std::string another() const override {
    return "GET /another HTTP/1.1\r\nHost: h.example\r\n\r\n";
  }
  [[nodiscard]] std::string describe(std::string_view output) const override {
    SaidByServer said;
    while (!output.empty()) {
      const std::size_t end = output.find("\r\n\r\n");
      if (end == output.npos) throw std::runtime_error("half a head was sent");
      const std::string_view head = output.substr(0, end + 2);
      output.remove_prefix(end + 4);
      const bool is_last = head.find("\r\nConnection: close\r\n") != head.npos;
      said.head(head.substr(9, 3), is_last ? " close" : "");
      const bool is_whole = head.substr(9, 1) == "1" || read_content(head, output, said);
      if (!is_whole) break;
      said.end();
    }
    return said.text();
  }
  [[nodiscard]] std::string describe_another(std::string_view output,
                                             std::size_t row_bytes) const override {
    return describe(output.substr(row_bytes));
  }
  [[nodiscard]] bool can_ask() const override {
    return is_whole_ || request_.arrived == StateRequest::Arrived::Nothing;
  }

 private:
  static std::size_t number_after(std::string_view text, std::string_view name, int base) {
    const std::size_t at = text.find(name);
    if (at == text.npos) return 0;
    return std::strtoul(std::string(text.substr(at + name.size(), 20)).c_str(), nullptr, base);
  }
  // Removes content from the output. Returns false if it is incomplete.
  static bool read_content(std::string_view head, std::string_view& output, SaidByServer& said) {
    if (head.find("\r\nTransfer-Encoding: chunked\r\n") == head.npos) {
      const std::size_t bytes = number_after(head, "\r\nContent-Length: ", 10);
      said.content(output.substr(0, bytes));
      const bool is_whole = bytes <= output.size();
      output.remove_prefix(std::min(bytes, output.size()));
      return is_whole;
    }
    while (!output.empty()) {
      const std::size_t bytes = number_after(output, "", 16);
      output.remove_prefix(output.find('\n') + 1);
      said.content(output.substr(0, bytes));
      if (output.size() < bytes + 2) return false;
      output.remove_prefix(bytes + 2);
      if (bytes == 0) return true;
    }
    return false;
  }

  std::string unsent_head_;
};

class Http2StatePeer final : public StatePeer {
 public:
  using StatePeer::StatePeer;

  [[nodiscard]] std::string greeting() const override { return h2::frames::hello(); }
  std::string begin(std::string_view path) override {
    namespace frames = h2::frames;
    if (request_.arrived == StateRequest::Arrived::Nothing) return {};
    frames::Fields more;
    if (request_.expects_continue) more.emplace_back("expect", "100-continue");
    if (!request_.is_get && !request_.is_chunked) {
      more.emplace_back("content-length", std::to_string(request_.content_bytes));
    }
    const std::string block = frames::request_block(request_.is_get ? "GET" : "POST", path, more);
    if (request_.arrived == StateRequest::Arrived::HalfHead) {
      unsent_head_ = block.substr(20);
      return frames::headers(1, block.substr(0, 20), frames::end);
    }
    is_whole_ = request_.is_get;
    std::string text = frames::headers(1, block, request_.is_get ? frames::whole : frames::open);
    if (!request_.is_get && first_bytes() != 0) text += next(first_bytes());
    return text;
  }
  std::string next(std::size_t bytes) override {
    std::string text;
    if (sent_bytes_ + bytes > 65'535) throw std::runtime_error("more than the window allows");
    while (bytes != 0) {
      const std::size_t frame_bytes = std::min<std::size_t>(bytes, 16'384);
      bytes -= frame_bytes;
      sent_bytes_ += frame_bytes;
      is_whole_ = sent_bytes_ == request_.content_bytes;
      text += h2::frames::data(1, std::string(frame_bytes, 'x'), is_whole_ ? h2::frames::end : 0);
    }
    return text;
  }
  std::string rest() override {
    if (unsent_head_.empty()) return StatePeer::rest();
    is_whole_ = true;
    return h2::frames::continuation(1, unsent_head_, h2::frames::open);
  }
  std::string cancel() override {
    is_cancelled_ = true;
    return h2::frames::reset(1);
  }
  std::string open_window() override {
    return h2::frames::window_update(0, 2'000'000) + h2::frames::window_update(1, 2'000'000);
  }
  [[nodiscard]] std::string another() const override { return h2::frames::get(3, "/another"); }
  [[nodiscard]] std::string describe(std::string_view output) const override {
    return described(output, 1, true).text();
  }
  [[nodiscard]] std::string describe_another(std::string_view output, std::size_t) const override {
    return described(output, 3, false).text();
  }
  [[nodiscard]] bool has_open_stream(std::string_view output) const override {
    using h2::FrameType;
    if (is_cancelled_ || request_.arrived < StateRequest::Arrived::Head) return false;
    bool has_ended = false;
    for (const h2::frames::Frame& frame : h2::frames::split(output)) {
      if (frame.head.stream_id != 1) continue;
      if (frame.head.type == FrameType::RstStream) return false;
      const bool can_end =
          frame.head.type == FrameType::Data || frame.head.type == FrameType::Headers;
      has_ended = has_ended || (can_end && frame.head.has(h2::frames::end));
    }
    return !(has_ended && is_whole_);
  }
  [[nodiscard]] bool can_ask() const override { return unsent_head_.empty() || is_whole_; }

 private:
  /// Describes a stream, and the GOAWAY frames of the connection if it `has_events`.
  [[nodiscard]] static SaidByServer described(std::string_view output, std::uint32_t id,
                                              bool has_events) {
    using h2::FrameType;
    SaidByServer said;
    h2::HpackDecoder decoder;
    for (const h2::frames::Frame& frame : h2::frames::split(output)) {
      const auto code = [&](std::size_t at) {
        return std::string(name(static_cast<h2::ErrorCode>(frame.number_at(at))));
      };
      const FrameType type = frame.head.type;
      if (type == FrameType::Goaway && has_events) {
        const std::uint32_t last = frame.number_at(0);
        const bool is_first = last == 0x7fff'ffff;
        said.event("GOAWAY " + (is_first ? "to come" : std::to_string(last) + " " + code(4)));
      }
      const auto fields = type == FrameType::Headers
                              ? h2::hpack::decode(decoder, frame.payload).value()
                              : h2::hpack::Fields();
      if (frame.head.stream_id != id) continue;
      if (!fields.empty()) said.head(fields.front().second);
      if (!fields.empty() && fields.front().second == "100") said.end();
      if (type == FrameType::Data) said.content(frame.payload);
      if (type == FrameType::RstStream) said.event("RST_STREAM " + code(0));
      const bool can_end = type == FrameType::Data || type == FrameType::Headers;
      if (can_end && frame.head.has(h2::frames::end)) said.end();
    }
    return said;
  }

  std::string unsent_head_;
  bool is_cancelled_ = false;
};

}  // namespace skua::testing
