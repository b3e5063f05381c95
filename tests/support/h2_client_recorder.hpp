// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "h2/connection.hpp"

namespace skua::h2 {

/// Test consumer of a client session: logs every event, and sends the content it was given.
class ClientRecorder : public Events {
 public:
  struct Content {
    std::string text{};  ///< to be sent
    std::size_t sent = 0;
    bool is_whole = true;  ///< if false, more may follow
    bool fails = false;
    std::string trailers{};
  };

  void on_response(Stream& stream, std::unique_ptr<ReceivedHead> head) override {
    std::string text = std::to_string(head->head.status);
    append_fields(head->head, text);
    write_down(stream, text);
    if (when_head) when_head(stream);
  }
  void on_data(Stream& stream, std::string_view data) override {
    received[stream.id()].append(data);
    if (takes_content) session->consume(stream, data.size());
    if (when_data) when_data(stream);
  }
  void on_end(Stream& stream, std::unique_ptr<ReceivedHead> trailers) override {
    std::string text = "end [" + received[stream.id()] + "]";
    if (trailers != nullptr) append_fields(trailers->head, text);
    write_down(stream, text);
    streams.erase(stream.id());
    if (releases) session->release(stream);
  }
  void on_failure(Stream& stream, const StreamFailure& failure) override {
    write_down(stream, "failed: " + failure.error.message() +
                           (failure.is_unprocessed ? " (unprocessed)" : ""));
    failures[stream.id()] = failure;
    streams.erase(stream.id());
  }
  void on_goaway(ErrorCode reason) override { log.append("goaway ").append(name(reason)) += '\n'; }
  void on_room() override { ++room_count; }
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

  /// Begins a request without content.
  Stream* get(std::string_view path, std::string_view fields = {}, Method method = Method::Get) {
    return begin({.method = method, .scheme = "http", .path = path, .fields = fields}, false);
  }
  /// Begins a request with content.
  Stream* post(Content content, std::string_view fields = {}) {
    Stream* const stream =
        begin({.method = Method::Post, .scheme = "http", .fields = fields}, true);
    if (stream != nullptr) contents[stream->id()] = std::move(content);
    return stream;
  }
  Stream* begin(RequestLines head, bool has_body) {
    head.authority = "h.example";
    Stream* const stream = session->request(head, has_body, this);
    if (stream != nullptr) streams[stream->id()] = stream;
    return stream;
  }
  void release(std::uint32_t id) {
    Stream* const stream = streams.at(id);
    streams.erase(id);
    session->release(*stream);
  }
  /// Returns all output of the session.
  std::string flush() {
    while (session->wants_write() && session->write(1U << 20U) != 0) {
    }
    return output = std::exchange(written, {});
  }

  Connection* session = nullptr;
  std::function<void(Stream&)> when_head;
  std::function<void(Stream&)> when_data;
  bool takes_content = true;  ///< opens the window again at once
  bool releases = true;       ///< releases streams whose response is complete
  int room_count = 0;
  std::string log;
  std::string written;  ///< since the last flush()
  std::string output;   ///< of the last flush()
  Workspace workspace;
  std::map<std::uint32_t, Stream*> streams;  ///< not yet ended
  std::map<std::uint32_t, StreamFailure> failures;
  std::map<std::uint32_t, std::string> received;
  std::map<std::uint32_t, Content> contents;

 private:
  static void append_fields(const http::Head& head, std::string& text) {
    for (const http::FieldLine& line : head.fields) {
      text.append(" ").append(head.name(line)).append("=").append(head.value(line));
    }
  }
  void write_down(const Stream& stream, std::string_view text) {
    log.append(std::to_string(stream.id())).append(" ").append(text) += '\n';
  }
};

}  // namespace skua::h2
