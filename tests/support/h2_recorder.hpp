// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "h2/connection.hpp"
#include "skua/method.hpp"

namespace skua::h2 {

/// Test consumer of a server session: logs every event, and sends the content it was given.
class Recorder : public Events {
 public:
  struct Content {
    std::string text{};  ///< to be sent
    std::size_t sent = 0;
    bool is_whole = true;  ///< if false, more may follow
    bool fails = false;
    std::string trailers{};
  };

  /// Describes a request's head in one line: `GET /a h.example name=value ... end`.
  static std::string describe(const Stream& stream, bool is_end) {
    const RequestHead& request = stream.request();
    std::string text(name(request.head.method));
    text.append(" ").append(request.head.target()).append(" ").append(request.host);
    if (!request.protocol.empty()) text.append(" protocol=").append(request.protocol);
    if (request.is_https) text += " https";
    if (request.expect_continue) text += " expects";
    if (request.length_bytes) text.append(" length=" + std::to_string(*request.length_bytes));
    if (request.error != Errc::None) {
      text.append(" error=" + std::to_string(code(status_for(request.error))));
    }
    append_fields(request.head, text);
    return text.append(is_end ? " end" : "");
  }

  void on_request(Stream& stream, bool is_end) override {
    streams[stream.id()] = &stream;
    write_down(stream, describe(stream, is_end));
    if (when_requested) when_requested(stream, is_end);
  }
  void on_data(Stream& stream, std::string_view data) override {
    received[stream.id()].append(data);
    if (takes_content && session != nullptr) session->consume(stream, data.size());
  }
  void on_end(Stream& stream, std::unique_ptr<ReceivedHead> trailers) override {
    std::string text = "end [" + received[stream.id()] + "]";
    if (trailers != nullptr) append_fields(trailers->head, text);
    write_down(stream, text);
    if (when_ended) when_ended(stream);
  }
  void on_answered_early(Stream& stream) override {
    write_down(stream, "answered early");
    if (session != nullptr) session->reset(stream, ErrorCode::NoError);
  }
  void on_closed(Stream& stream, ErrorCode reason) override {
    write_down(stream, "closed " + std::string(h2::name(reason)));
    if (!releases) return;
    streams.erase(stream.id());
    session->release(stream);
  }
  void on_goaway(ErrorCode reason) override { log.append("goaway ").append(name(reason)) += '\n'; }
  BodyRead read_body(Stream& stream, std::size_t max_bytes) override {
    const Content& content = contents[stream.id()];
    if (content.fails) return {.state = BodyRead::State::Failed};
    const std::size_t left = content.text.size() - content.sent;
    const std::size_t bytes = std::min(left, max_bytes);
    const bool is_end = bytes == left && content.is_whole;
    return {.bytes = bytes,
            .state = is_end ? BodyRead::State::End : BodyRead::State::More,
            .trailers = is_end ? std::string_view(content.trailers) : std::string_view()};
  }

  void append(std::string_view bytes) override { written.append(bytes); }
  void append_data(Stream& stream, std::string_view head, std::size_t bytes) override {
    Content& content = contents[stream.id()];
    written.append(head);
    written.append(content.text, content.sent, bytes);
    content.sent += bytes;
  }

  std::size_t send_now(std::span<const std::string_view> texts) override {
    const std::size_t before = written.size();
    for (const std::string_view text : texts) {
      written.append(text.substr(0, taken_at_once - (written.size() - before)));
    }
    return written.size() - before;
  }

  /// Sends a response whose content is `text`.
  void answer(Stream& stream, std::string text, Status status = Status::Ok) {
    const std::size_t size = text.size();
    contents[stream.id()] = {.text = std::move(text)};
    session->respond(stream, {.status = status, .length_bytes = size}, size != 0);
  }
  /// Returns all output of the session.
  std::string flush() {
    while (session->wants_write() && session->write(1U << 20U) != 0) {
    }
    return output = std::exchange(written, {});
  }

  Connection* session = nullptr;
  std::function<void(Stream&, bool is_end)> when_requested;
  std::function<void(Stream&)> when_ended;
  bool takes_content = true;      ///< opens the window again at once
  std::size_t taken_at_once = 0;  ///< by send_now()
  bool releases = true;           ///< releases closed streams at once
  std::string log;
  std::string written;  ///< since the last flush()
  std::string output;   ///< of the last flush()
  Workspace workspace;
  std::map<std::uint32_t, Stream*> streams;
  std::map<std::uint32_t, std::string> received;
  std::map<std::uint32_t, Content> contents;

 private:
  static void append_fields(const http::Head& head, std::string& text) {
    for (const http::FieldLine& line : head.fields) {
      if (line.name == http::FieldName::Host) continue;
      text.append(" ").append(head.name(line)).append("=").append(head.value(line));
    }
  }
  void write_down(const Stream& stream, std::string_view text) {
    log.append(std::to_string(stream.id())).append(" ").append(text) += '\n';
  }
};

}  // namespace skua::h2
