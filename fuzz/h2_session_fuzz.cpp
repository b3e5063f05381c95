// SPDX-License-Identifier: MIT
// In: a seed, then a client's bytes after the preface. Checked: a stream has no events before its
// request or after its end, content does not exceed its declared length, memory is bounded, and
// events do not depend on how the bytes are split.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "by_stream.hpp"
#include "h2/connection.hpp"
#include "h2/frame.hpp"

namespace {

using namespace skua::h2;  // NOLINT(google-build-using-namespace)

constexpr Options small{
    .streams = 8,
    .head = {.target_bytes = 64, .field_line_bytes = 256, .list_bytes = 1024, .fields = 8},
    .stream_window_bytes = 1000,
    .allows_extended_connect = true};

void check(bool holds) {
  if (!holds) std::abort();
}

/// Answers some requests at once, some when they are complete, and some never.
class Consumer final : public Events {
 public:
  void on_request(Stream& stream, bool is_end) override {
    const RequestHead& request = stream.request();
    check(open_.find(stream.id()) == nullptr && open_.size() < small.streams);
    open_[stream.id()] = &stream;
    if (request.error == skua::Errc::None) {
      check(!request.host.empty() && request.head.fields.size() <= small.head.fields);
      check(request.head.size_bytes <= small.head.list_bytes);
    }
    log += "r" + std::to_string(stream.id()) + std::string(request.head.target());
    if (is_end || stream.id() % 3 == 0) respond(stream);
    if (stream.id() % 7 == 0) session->reset(stream, ErrorCode::Cancel);
  }
  void on_data(Stream& stream, std::string_view data) override {
    check(open_.find(stream.id()) != nullptr && !data.empty());
    std::uint64_t& received = received_[stream.id()];
    received += data.size();
    if (stream.request().length_bytes) check(received <= *stream.request().length_bytes);
    if (stream.id() % 5 != 0) session->consume(stream, data.size());
    if (stream.id() % 5 == 0) check(received <= small.stream_window_bytes);
  }
  void on_end(Stream& stream, std::unique_ptr<ReceivedHead> trailers) override {
    check(open_.find(stream.id()) != nullptr);
    check(trailers == nullptr || trailers->head.fields.size() <= small.trailers.fields);
    log += "e" + std::to_string(stream.id()) + ":" + std::to_string(received_[stream.id()]);
    if (!stream.has_response()) respond(stream);
  }
  void on_answered_early(Stream& stream) override { session->reset(stream, ErrorCode::NoError); }
  void on_closed(Stream& stream, ErrorCode) override {
    check(open_.erase(stream.id()));
    session->release(stream);
  }
  void on_goaway(ErrorCode) override { log += "g"; }
  BodyRead read_body(Stream& stream, std::size_t max_bytes) override {
    std::size_t& left = left_[stream.id()];
    const std::size_t bytes = left < max_bytes ? left : max_bytes;
    return {.bytes = bytes,
            .state = bytes == left ? BodyRead::State::End : BodyRead::State::More,
            .trailers = stream.id() % 4 == 1 ? "x: y\r\n" : ""};
  }
  void append(std::string_view bytes) override { written += bytes.size(); }
  void append_data(Stream& stream, std::string_view head, std::size_t bytes) override {
    append(head);
    check(bytes <= left_[stream.id()]);
    left_[stream.id()] -= bytes;
    written += bytes;
  }
  void flush() {
    while (session->wants_write() && session->write(10'000) != 0) {
    }
  }

  Connection* session = nullptr;
  std::string log;
  std::size_t written = 0;

 private:
  void respond(Stream& stream) {
    left_[stream.id()] = stream.id() * 97 % 3000;
    skua::FieldLines fields;
    fields.add("X", "y");
    session->respond(stream, {.fields = &fields}, left_[stream.id()] != 0);
  }

  ByStream<Stream*> open_;
  ByStream<std::uint64_t> received_;
  ByStream<std::size_t> left_;
};

/// Returns the events for bytes in pieces; with `is_talking`, responses are written in between.
/// Returns nullopt if the session failed: requests before a fault in the same piece are then not
/// served.
std::optional<std::string> run(std::string_view bytes, std::uint32_t seed, bool is_talking) {
  Consumer consumer;
  skua::loop::Instant now{};
  Workspace workspace;
  Connection connection(small, consumer, workspace, now);
  Connection* const session = &connection;
  consumer.session = session;
  session->receive(client_preface, now);
  while (!bytes.empty()) {
    seed = seed * 1664525U + 1013904223U;
    const std::string piece(bytes.substr(0, seed == 0 ? bytes.size() : 1 + (seed >> 25U)));
    bytes.remove_prefix(piece.size());
    session->receive(piece, now);
    if (is_talking) consumer.flush();
    if (is_talking) now += std::chrono::milliseconds(seed >> 24U);
    check(session->stream_count() <= small.streams);
  }
  consumer.flush();
  if (session->failure() != nullptr) return std::nullopt;
  return consumer.log;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::uint32_t seed = data[0] | static_cast<std::uint32_t>(data[1]) << 8U;
  const std::string bytes(reinterpret_cast<const char*>(data + 2), size - 2);
  run(bytes, seed, true);
  // Without output in between, and below an AbuseGuard's limits, only the bytes matter.
  if (bytes.size() >= 500) return 0;
  const auto told = run(bytes, seed, false);
  const auto told_again = run(bytes, seed * 31U + 7U, false);
  check(!told || !told_again || *told == *told_again);
  return 0;
}
