// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "h2/abuse_guard.hpp"
#include "h2/error_code.hpp"
#include "h2/head_builder.hpp"
#include "h2/stream.hpp"
#include "http/field.hpp"
#include "loop/clock.hpp"
#include "skua/status.hpp"

namespace skua::h2 {

/// Whether nghttp2 was there when skua was built.
bool is_available() noexcept;

/// What we tell the peer in our SETTINGS, and hold it to.
struct SessionOptions {
  std::uint32_t streams = 100;  ///< at once; those whose handler still works count
  HeadLimits head{};
  HeadLimits trailers{.field_line_bytes = 8 * 1024, .list_bytes = 8 * 1024, .fields = 64};
  /// Content of a stream that its consumer has not taken: with `streams` it bounds what a
  /// connection can make us keep.
  std::uint32_t stream_window_bytes = 64 * 1024;
  /// Content on its way, of all streams. It bounds no memory: see Session::consume.
  std::uint32_t connection_window_bytes = 1024 * 1024;
  std::uint32_t frame_bytes = 16 * 1024;  ///< of a frame that we receive: 16 KiB to 16 MiB - 1
  bool allows_extended_connect = false;   ///< RFC 8441
  AbuseLimits abuse{};
};

/// What a consumer has of a response's content.
struct BodyRead {
  enum class State : std::uint8_t {
    More,    ///< there is more behind it; with no bytes: not yet, until Session::resume_body
    End,     ///< these were the last
    Failed,  ///< it cannot be completed: the stream is reset with INTERNAL_ERROR
  };
  std::size_t bytes = 0;  ///< at most as many as were asked for
  State state = State::More;
  /// With End: field lines, `Name: value\r\n` each. Valid until the call returns to the session.
  std::string_view trailers{};
};

/// What a session tells its consumer. Told from inside Session::receive and Session::write: any
/// member of the session but these two may be called. What is thrown ends the connection.
class Events {
 public:
  /// A request. With `request().error` it is to be answered with that. `is_end`: no content
  /// follows, and on_end is not told.
  virtual void on_request(Stream& stream, bool is_end) = 0;
  /// Content of the request; each byte is to be given back with Session::consume.
  virtual void on_data(Stream& stream, std::string_view data) = 0;
  /// The content is whole. The trailers live as long as the stream.
  virtual void on_end(Stream& stream, const http::Head& trailers) = 0;
  /// The response was written whole, and the request is not: the peer may still send. A reset with
  /// NO_ERROR tells it that the rest is not needed (RFC 9113 §8.1); some clients lose the response
  /// to one that arrives with it.
  virtual void on_answered_early(Stream& stream) = 0;
  /// The stream is over: NoError where both sides said all that they had to say. Told once for each
  /// request that was told and not released; Session::release is due when its handler has ended,
  /// too.
  virtual void on_closed(Stream& stream, ErrorCode reason) = 0;
  /// The peer begins nothing more.
  virtual void on_goaway(ErrorCode reason) = 0;
  /// How much of the response's content there is. What is said here is taken by
  /// Output::append_payload, in the same call of Session::write.
  virtual BodyRead read_body(Stream& stream, std::size_t most_bytes) = 0;

 protected:
  ~Events() = default;
};

/// Where a session writes.
class Output {
 public:
  /// Bytes that are valid during the call only.
  virtual void append(std::string_view bytes) = 0;
  /// The next bytes of this stream's content, as many as read_body has told: by copy, by reference
  /// or as a range of a file. Moves the consumer's own position in the content.
  virtual void append_payload(Stream& stream, std::size_t bytes) = 0;

 protected:
  ~Output() = default;
};

/// A response's head. Views are needed during the call only.
struct ResponseHead {
  Status status = Status::Ok;
  std::optional<std::uint64_t> length_bytes{};  ///< Content-Length, where there is to be one
  std::string_view standard_fields{};           ///< complete lines: Date and Server
  std::string_view content_type{};              ///< empty: none
  /// Complete lines. Names become lower-case; those that HTTP/2 forbids are left out (RFC 9113
  /// §8.2.2).
  std::string_view fields{};
};

/// Why we ended a connection.
struct Failure {
  ErrorCode code = ErrorCode::NoError;
  std::string reason{};  ///< for logs; it holds nothing that the peer sent
};

/// One HTTP/2 connection without a socket and without a clock: bytes in, events out; commands in,
/// bytes out.
///
/// Order and framing are nghttp2's; so are HPACK, flow control and the scheduling of what is sent
/// by the priorities of RFC 9218 (PRIORITY_UPDATE and the `priority` field; those of RFC 7540 are
/// declined). Not thread-safe.
/// RFC:       9113, 7541, 8441, 9218
class Session {
 public:
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  // The connection.

  /// Takes bytes of the peer, all of them, the preface included. What breaks the rules ends in a
  /// GOAWAY or RST_STREAM that waits to be written.
  virtual void receive(std::string_view input, loop::Instant now) = 0;
  [[nodiscard]] virtual bool wants_write() const noexcept = 0;
  /// Writes until there is nothing to write, or `most_bytes` are reached (a frame is not cut, so it
  /// may be one more). Returns how many bytes went out.
  virtual std::size_t write(Output& output, std::size_t most_bytes) = 0;
  /// Nothing more is read or written: the connection can be closed. Streams that it takes along are
  /// not told of.
  [[nodiscard]] virtual bool is_over() const noexcept = 0;
  /// Why we ended it, once that has been written; null where we did not.
  [[nodiscard]] virtual const Failure* failure() const noexcept = 0;
  /// Announces the end (GOAWAY with the highest stream id), so that requests on their way are
  /// served. RFC 9113 §6.8
  virtual void begin_shut_down() = 0;
  /// At least a round trip later: refuses new streams. It is over when those in progress are.
  virtual void finish_shut_down() = 0;
  /// Ends everything at once. `reason` goes to the peer.
  virtual void terminate(ErrorCode code, std::string_view reason) = 0;
  /// Since when the peer has not acknowledged our SETTINGS; for the caller to end it with
  /// SettingsTimeout. RFC 9113 §6.5.3
  [[nodiscard]] virtual std::optional<loop::Instant> settings_pending_since() const noexcept = 0;
  /// Since when the peer has begun a head, or a frame other than DATA, and not ended it; for the
  /// caller to end the connection.
  [[nodiscard]] virtual std::optional<loop::Instant> unfinished_since() const noexcept = 0;
  /// Whether some content that is there waits only for the peer's window. For the caller to time;
  /// looks at every stream.
  [[nodiscard]] virtual bool is_blocked_by_window() const noexcept = 0;
  /// Streams that are open, or whose handler has not ended.
  [[nodiscard]] virtual std::size_t stream_count() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t abuse_score() const noexcept = 0;

  // Its streams. On a closed stream these do nothing, but for release.

  /// Begins the response: once. Without `has_body` it is complete; otherwise its content is asked
  /// for by Events::read_body. The stream ends when the request is whole, too, or is reset: see
  /// Events::on_answered_early. One that opens a tunnel (a 2xx to CONNECT) ends when both sides
  /// have ended it, or with release.
  virtual void respond(Stream& stream, const ResponseHead& head, bool has_body) = 0;
  /// An informational response before it: 100 (Continue), 103 (Early Hints).
  virtual void inform(Stream& stream, Status status, std::string_view fields) = 0;
  /// There is content again after read_body had none.
  virtual void resume_body(Stream& stream) = 0;
  /// The consumer has taken so much of the stream's content: the peer may send as much again. The
  /// connection's window is given back at once when content arrives, so that a stream which nobody
  /// reads never holds up another: at most streams * stream_window_bytes are in our memory.
  virtual void consume(Stream& stream, std::size_t bytes) = 0;
  virtual void reset(Stream& stream, ErrorCode code) = 0;
  /// The consumer is done with it: the last use of the stream. One that is not over is reset with
  /// CANCEL, and nothing more is told of it.
  virtual void release(Stream& stream) = 0;
  [[nodiscard]] virtual bool is_blocked_by_window(const Stream& stream) const noexcept = 0;

 protected:
  Session() = default;
};

/// The server's side of a connection; its SETTINGS are the first that it writes. Null where skua
/// was built without nghttp2. `events` outlives it, and is not told of its destruction.
///
/// Ends with: std::bad_alloc.
std::unique_ptr<Session> make_server_session(const SessionOptions& options, Events& events,
                                             loop::Instant now);

}  // namespace skua::h2
