// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "by_stream.hpp"
#include "h2/connection.hpp"
#include "h2_judge_session.hpp"
#include "skua/field_lines.hpp"

namespace judge {

using skua::h2::Connection;
using skua::h2::ErrorCode;
using skua::h2::Stream;

constexpr std::uint32_t code(ErrorCode code) noexcept { return static_cast<std::uint32_t>(code); }

/// Limits that no input reaches: two implementations need not agree on what is too long.
constexpr skua::h2::HeadLimits no_limits{.target_bytes = 0xffff,
                                         .field_line_bytes = 0xffff,
                                         .list_bytes = 0x1000'0000,
                                         .fields = 0xffff};

constexpr skua::h2::Options options(skua::h2::Role role) noexcept {
  return {.role = role,
          .streams = 8,
          .head = no_limits,
          .trailers = no_limits,
          .interim_responses = 0xffff,
          .interim_bytes = 0x1000'0000,
          .stream_window_bytes = 1000,
          .connection_window_bytes = 65'535,
          .allows_extended_connect = true,
          .abuse = {.mark = 0xffff'ffff}};
}

/// The application's behavior for a stream, chosen by its id so that all variants occur.
struct Plan {
  enum class Answer : std::uint8_t { AtOnce, AtEnd, Never };

  explicit constexpr Plan(std::uint32_t id) noexcept {
    const std::uint32_t n = id / 2;
    if (n % 3 == 1) answer = Answer::AtEnd;
    if (n % 7 == 6) answer = Answer::Never;
    content_bytes = n * 37 % 300;
    has_trailers = n % 4 == 1;
    takes_content = n % 5 != 2;
    resets_early = n % 4 == 2;
  }

  Answer answer = Answer::AtOnce;
  std::size_t content_bytes = 0;
  bool has_trailers = false;
  bool takes_content = true;
  bool resets_early = false;  ///< requests answered before they were complete
};

/// An action that nghttp2's application has to repeat.
struct Deed {
  std::uint32_t id = 0;
  std::optional<std::size_t> answered{};  ///< bytes of content; if unset, the stream was reset
  ErrorCode code = ErrorCode::NoError;
};

inline void put(std::string& text, std::string_view name, std::string_view value) {
  text.append(name).append(": ").append(value).append("\n");
}

inline std::string text_of(const skua::http::Head& head) {
  std::string text;
  for (const skua::http::FieldLine& line : head.fields) {
    // RFC 9110 §8.6: a 204 must not have it; nghttp2 drops a value of 0.
    if (head.status == 204 && line.name == skua::http::FieldName::ContentLength) continue;
    put(text, head.name(line), head.value(line));
  }
  return text;
}

/// Formats a field section as it is on the wire.
inline std::string write_plainly(const Fields& fields) {
  std::string text;
  for (const auto& [name, value] : fields) put(text, name, value);
  return text;
}

inline constexpr std::string_view trailer_lines = "x-sum: 1\r\nX-More: z\r\n";
inline constexpr std::string_view trailer_text = "x-sum: 1\nx-more: z\n";
/// Stands for a request that we answer with an error.
inline constexpr std::string_view refused_text = "error\n";

/// The application on our side of the connection.
class App final : public skua::h2::Events {
 public:
  explicit App(skua::h2::Role role) : connection_(options(role), *this, workspace_, {}) {}

  // Server only.
  void on_request(Stream& stream, bool is_end) override {
    const std::uint32_t id = stream.id();
    const skua::h2::RequestHead& request = stream.request();
    Told& its = told[id];
    check(open_.find(id) == nullptr && its == Told());
    open_[id] = &stream;
    its.heads = write(request);
    its.is_ended = is_end;
    methods[id] = request.head.method;
    if (request.expect_continue) {
      connection_.inform(stream, skua::Status::Continue, {});
      sent[id].heads += ":status: 100\n";
    }
    const Plan::Answer answer = Plan(id).answer;
    if (answer == Plan::Answer::AtOnce || (is_end && answer == Plan::Answer::AtEnd)) {
      respond(stream);
    }
  }
  void on_answered_early(Stream& stream) override {
    if (Plan(stream.id()).resets_early) reset(stream.id());
  }
  void on_closed(Stream& stream, ErrorCode reason) override {
    check(open_.erase(stream.id()));
    told[stream.id()].closed_with = code(reason);
    connection_.release(stream);
  }

  // Client only.
  void on_response(Stream& stream, std::unique_ptr<skua::h2::ReceivedHead> head) override {
    check(open_.find(stream.id()) != nullptr);
    told[stream.id()].heads +=
        ":status: " + std::to_string(head->head.status) + "\n" + text_of(head->head);
  }
  void on_failure(Stream& stream, const skua::h2::StreamFailure&) override {
    check(open_.erase(stream.id()));
    told[stream.id()].closed_with = any_failure;
  }

  // Server and client.
  void on_data(Stream& stream, std::string_view data) override {
    check(open_.find(stream.id()) != nullptr);
    told[stream.id()].add(data);
    if (Plan(stream.id()).takes_content) connection_.consume(stream, data.size());
  }
  void on_end(Stream& stream, std::unique_ptr<skua::h2::ReceivedHead> trailers) override {
    check(open_.find(stream.id()) != nullptr);
    Told& its = told[stream.id()];
    if (trailers != nullptr) its.heads += "trailers\n" + text_of(trailers->head);
    its.is_ended = true;
    if (Plan(stream.id()).answer == Plan::Answer::AtEnd && !is_client_) respond(stream);
  }
  skua::h2::BodyRead read_body(Stream& stream, std::size_t max_bytes) override {
    const std::size_t left = left_[stream.id()];
    const std::size_t bytes = left < max_bytes ? left : max_bytes;
    if (bytes < left) return {.bytes = bytes};
    // RFC 9113 §8.5: a tunnel has no trailers.
    const bool has_trailers =
        Plan(stream.id()).has_trailers && methods[stream.id()] != skua::Method::Connect;
    Told& its = sent[stream.id()];
    its.is_ended = true;
    if (has_trailers) its.heads += trailer_text;
    return {.bytes = bytes,
            .state = skua::h2::BodyRead::State::End,
            .trailers = has_trailers ? trailer_lines : std::string_view()};
  }
  void append(std::string_view bytes) override { output.append(bytes); }
  void append_data(Stream& stream, std::string_view head, std::size_t bytes) override {
    append(head);
    check(bytes <= left_[stream.id()]);
    left_[stream.id()] -= bytes;
    output.append(bytes, 'c');
    sent[stream.id()].add(std::string_view(output).substr(output.size() - bytes));
  }

  /// Starts a client's requests, here and in `judge`.
  void begin(Session& judge) {
    constexpr std::array<skua::Method, 6> all{skua::Method::Get,  skua::Method::Post,
                                              skua::Method::Head, skua::Method::Put,
                                              skua::Method::Get,  skua::Method::Post};
    is_client_ = true;
    for (const skua::Method method : all) {
      const std::uint32_t id = 1 + 2 * static_cast<std::uint32_t>(sent.size());
      const bool has_content = method == skua::Method::Post || method == skua::Method::Put;
      Stream* const stream = connection_.request(
          {.method = method,
           .authority = "h",
           .path = "/p?q",
           .length_bytes = {},
           .fields = "X-A: b\r\nConnection: close\r\nCookie: a=b; c=d\r\nTE: gzip, trailers\r\n"},
          has_content, nullptr);
      check(stream != nullptr && stream->id() == id);
      const Fields fields{{":method", std::string(skua::name(method))},
                          {":scheme", "https"},
                          {":authority", "h"},
                          {":path", "/p?q"},
                          {"x-a", "b"},
                          {"cookie", "a=b"},
                          {"cookie", "c=d"},
                          {"te", "trailers"}};
      const std::size_t content_bytes = has_content ? Plan(id).content_bytes + 1 : 0;
      open_[id] = stream;
      left_[id] = content_bytes;
      sent[id].heads = write_plainly(fields);
      sent[id].is_ended = !has_content;
      judge.request(id, fields, content_bytes);
    }
  }
  /// Resets a stream as the application would.
  void reset(std::uint32_t id, ErrorCode why = ErrorCode::NoError) {
    Stream** const stream = open_.find(id);
    if (stream == nullptr || (*stream)->is_closed()) return;
    connection_.reset(**stream, why);
    deeds.push_back({.id = id, .code = why});
  }
  void flush() {
    while (connection_.wants_write() && connection_.write(10'000) != 0) {
    }
  }
  [[nodiscard]] Connection& connection() noexcept { return connection_; }

  ByStream<Told> told;      ///< events from the peer, since last cleared
  ByStream<Told> sent;      ///< events for the peer, since last cleared
  std::vector<Deed> deeds;  ///< since last cleared
  std::string output;       ///< since last cleared
  ByStream<skua::Method> methods;

 private:
  static std::string write(const skua::h2::RequestHead& request) {
    switch (request.error) {
      case skua::Errc::None: break;
      case skua::Errc::UnknownMethod:
      case skua::Errc::MalformedTarget:
      case skua::Errc::InvalidHost:
      case skua::Errc::UnknownExpectation: return std::string(refused_text);
      default: check(false);
    }
    return std::string(request.head.method_name()) + " " + std::string(request.path_and_query) +
           (request.is_https ? " https " : " http ") + std::string(request.protocol) + "\n" +
           text_of(request.head);
  }

  void respond(Stream& stream) {
    const std::uint32_t id = stream.id();
    const bool is_head = stream.request().head.method == skua::Method::Head;
    const std::size_t content_bytes = is_head ? 0 : Plan(id).content_bytes;
    left_[id] = content_bytes;
    skua::FieldLines fields;
    fields.add("X-Number", std::to_string(id));
    fields.add("Connection", "close");
    fields.add("X-Same", "a value that is worth a place in the table");
    connection_.respond(stream, {.content_type = "text/plain", .fields = &fields},
                        content_bytes != 0);
    Told& its = sent[id];
    its.heads += ":status: 200\ncontent-type: text/plain\nx-number: " + std::to_string(id) +
                 "\nx-same: a value that is worth a place in the table\n";
    its.is_ended = content_bytes == 0;
    deeds.push_back({.id = id, .answered = content_bytes});
  }

  skua::h2::Workspace workspace_;
  ByStream<Stream*> open_;
  ByStream<std::size_t> left_;
  bool is_client_ = false;
  Connection connection_;  // last, as its constructor writes
};

}  // namespace judge
