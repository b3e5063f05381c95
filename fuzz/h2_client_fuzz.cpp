// SPDX-License-Identifier: MIT
// In: a seed, then a server's bytes after its SETTINGS. Checked: each stream reports one end or one
// failure and nothing after it, content does not exceed its declared length, heads are bounded, and
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

namespace {

using namespace skua::h2;  // NOLINT(google-build-using-namespace)

constexpr Options small{
    .role = Role::Client,
    .streams = 1000,
    .head = {.target_bytes = 0, .field_line_bytes = 256, .list_bytes = 1024, .fields = 8},
    .interim_responses = 4,
    .interim_bytes = 1024,
    .stream_window_bytes = 1000};
constexpr int request_count = 8;

void check(bool holds) {
  if (!holds) std::abort();
}

/// Starts a few requests, with and without content, and cancels some.
class Consumer final : public Events {
 public:
  void on_response(Stream& stream, std::unique_ptr<ReceivedHead> head) override {
    State& state = open(stream);
    check(!state.has_head && head->head.fields.size() <= small.head.fields);
    check(head->head.size_bytes <= small.head.list_bytes);
    state.has_head = head->head.status >= 200;
    if (!state.has_head) check(++state.interim <= small.interim_responses);
    state.length = content_length(head->head);
    log += "h" + std::to_string(stream.id()) + ":" + std::to_string(head->head.status);
    if (stream.id() % 7 == 0) release(stream);
  }
  void on_data(Stream& stream, std::string_view data) override {
    State& state = open(stream);
    check(state.has_head && !data.empty());
    state.received += data.size();
    if (state.length) check(state.received <= *state.length);
    if (stream.id() % 5 == 0) {
      check(state.received <= small.stream_window_bytes);
    } else {
      session->consume(stream, data.size());
    }
  }
  void on_end(Stream& stream, std::unique_ptr<ReceivedHead> trailers) override {
    check(open(stream).has_head);
    check(trailers == nullptr || trailers->head.fields.size() <= small.trailers.fields);
    log += "e" + std::to_string(stream.id()) + ":" + std::to_string(open(stream).received);
    release(stream);
  }
  void on_failure(Stream& stream, const StreamFailure& failure) override {
    open(stream);
    log += "f" + std::to_string(stream.id()) + (failure.is_unprocessed ? "u" : "");
    streams_.erase(stream.id());
  }
  void on_goaway(ErrorCode) override { log += "g"; }
  BodyRead read_body(Stream& stream, std::size_t max_bytes) override {
    const std::size_t left = open(stream).left;
    const std::size_t bytes = left < max_bytes ? left : max_bytes;
    return {.bytes = bytes,
            .state = bytes == left ? BodyRead::State::End : BodyRead::State::More,
            .trailers = stream.id() % 4 == 1 ? "x: y\r\n" : ""};
  }
  void append(std::string_view) override {}
  void append_data(Stream& stream, std::string_view head, std::size_t bytes) override {
    append(head);
    check(bytes <= open(stream).left);
    open(stream).left -= bytes;
  }

  void begin() {
    for (int i = 0; i < request_count; ++i) {
      const bool has_body = i % 2 == 1;
      Stream* const stream = session->request(
          {.method = i == 2 ? skua::Method::Head : skua::Method::Post, .authority = "h"}, has_body,
          nullptr);
      check(stream != nullptr);
      streams_[stream->id()].left = stream->id() * 97 % 3000;
    }
  }
  void flush() {
    while (session->wants_write() && session->write(10'000) != 0) {
    }
  }
  [[nodiscard]] std::size_t count() const { return streams_.size(); }

  Connection* session = nullptr;
  std::string log;

 private:
  struct State {
    std::size_t left = 0;
    std::uint64_t received = 0;
    std::optional<std::uint64_t> length{};
    int interim = 0;
    bool has_head = false;
  };

  State& open(const Stream& stream) {
    State* const found = streams_.find(stream.id());
    check(found != nullptr);
    return *found;
  }
  void release(Stream& stream) {
    streams_.erase(stream.id());
    session->release(stream);
  }

  ByStream<State> streams_;
};

/// Returns the events for bytes in pieces, or nullopt if the session itself failed. With
/// `is_talking`, the client writes its output between the pieces.
std::optional<std::string> run(std::string_view bytes, std::uint32_t seed, bool is_talking) {
  Consumer consumer;
  skua::loop::Instant now{};
  Workspace workspace;
  Connection connection(small, consumer, workspace, now);
  Connection* const session = &connection;
  consumer.session = session;
  consumer.begin();
  consumer.flush();
  session->receive(std::string_view("\0\0\0\x04\0\0\0\0\0", 9), now);
  while (!bytes.empty()) {
    seed = seed * 1664525U + 1013904223U;
    const std::string piece(bytes.substr(0, seed == 0 ? bytes.size() : 1 + (seed >> 25U)));
    bytes.remove_prefix(piece.size());
    session->receive(piece, now);
    if (is_talking) consumer.flush();
    if (is_talking) now += std::chrono::milliseconds(seed >> 24U);
    static_cast<void>(session->room());
  }
  consumer.flush();
  const bool is_ours = session->failure() != nullptr;
  std::string told = consumer.log;
  session->lose(skua::Errc::Closed);
  check(consumer.count() == 0);
  if (is_ours) return std::nullopt;
  return told;
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
