// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "h2/abuse_guard.hpp"
#include "h2/error_code.hpp"
#include "h2/head_builder.hpp"
#include "h2/session.hpp"
#include "http/field.hpp"
#include "loop/clock.hpp"
#include "skua/error.hpp"
#include "skua/method.hpp"

namespace skua::h2 {

/// What we tell a server in our SETTINGS, and hold it to.
struct ClientSessionOptions {
  std::uint32_t streams = 1000;    ///< at once, where the server allows that many
  HeadLimits head{.fields = 256};  ///< of each head of a response
  HeadLimits trailers{.field_line_bytes = 8 * 1024, .list_bytes = 8 * 1024, .fields = 64};
  std::uint16_t interim_responses = 32;   ///< to one request; else TooManyInterimResponses
  std::size_t interim_bytes = 64 * 1024;  ///< their heads together; else HeadTooLong
  /// Content of a stream that its consumer has not taken: what each may make us keep. With the
  /// time that a round trip takes it bounds how fast content comes.
  std::uint32_t stream_window_bytes = 2 * 1024 * 1024;
  /// Content on its way, of all streams. It bounds no memory: see ClientSession::consume.
  std::uint32_t connection_window_bytes = 16 * 1024 * 1024;
  std::uint32_t frame_bytes = 16 * 1024;  ///< of a frame that we receive: 16 KiB to 16 MiB - 1
  AbuseLimits abuse{};
};

/// A request's head. Views are needed during the call only.
struct RequestLines {
  Method method = Method::Get;
  std::string_view scheme = "https";
  std::string_view authority{};
  std::string_view path = "/";                  ///< and query
  std::optional<std::uint64_t> length_bytes{};  ///< Content-Length, where there is to be one
  /// Complete lines. Names become lower-case; those that HTTP/2 forbids, or that are told by the
  /// above, are left out (RFC 9113 §8.2.2).
  std::string_view fields{};
  std::string* shown = nullptr;  ///< lines of the fields as they are sent are appended to it
};

/// A head or a trailer section that was received, with its bytes.
struct ReceivedHead {
  HeadBuilder builder{};
  http::Head head{};  ///< views into the builder
};

/// One request and its response, as the session and its consumer know it. Owned by the session.
class ClientStream {
 public:
  ClientStream(const ClientStream&) = delete;
  ClientStream& operator=(const ClientStream&) = delete;

  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }

  void* context = nullptr;  ///< the consumer's own

 protected:
  ClientStream() = default;
  ~ClientStream() = default;

  std::uint32_t id_ = 0;
};

/// Why a stream did not come to its end.
struct StreamFailure {
  Error error = Errc::None;
  /// The server has not looked at the request, and says so; or it was never sent. RFC 9113 §8.7
  bool is_unprocessed = false;
  bool has_begun = false;  ///< the server had begun to answer
};

/// What a session tells its consumer, from inside its members: any but ClientSession::receive and
/// write may be called then. What is thrown ends the connection.
///
/// Of each stream that is not released before, either on_end or on_failure is told, once.
class ClientEvents {
 public:
  /// The head of an interim response (1xx), or of the final one.
  virtual void on_head(ClientStream& stream, std::unique_ptr<ReceivedHead> head) = 0;
  /// Content; each byte is to be given back with ClientSession::consume.
  virtual void on_data(ClientStream& stream, std::string_view data) = 0;
  /// The response is whole. `trailers` is null where there are none.
  virtual void on_end(ClientStream& stream, std::unique_ptr<ReceivedHead> trailers) = 0;
  /// The response will not be whole. The stream is released with this.
  virtual void on_failure(ClientStream& stream, const StreamFailure& failure) = 0;
  /// The server takes no more requests: room() is 0 for good.
  virtual void on_goaway(ErrorCode reason) = 0;
  /// room() may be more than before.
  virtual void on_room() = 0;
  /// How much of the request's content there is. What is said here is taken by
  /// ClientOutput::append_payload, in the same call of ClientSession::write.
  virtual BodyRead read_body(ClientStream& stream, std::size_t most_bytes) = 0;

 protected:
  ~ClientEvents() = default;
};

/// Where a session writes.
class ClientOutput {
 public:
  /// Bytes that are valid during the call only.
  virtual void append(std::string_view bytes) = 0;
  /// The next bytes of this stream's content, as many as read_body has told.
  virtual void append_payload(ClientStream& stream, std::size_t bytes) = 0;

 protected:
  ~ClientOutput() = default;
};

/// The client's side of an HTTP/2 connection without a socket and without a clock: requests in,
/// bytes out; bytes in, events out.
///
/// Server push is refused (RFC 9113 §8.4). Not thread-safe.
/// RFC:       9113, 7541
class ClientSession {
 public:
  ClientSession(const ClientSession&) = delete;
  ClientSession& operator=(const ClientSession&) = delete;
  virtual ~ClientSession() = default;

  // The connection.

  /// Takes bytes of the server, all of them.
  virtual void receive(std::string_view input, loop::Instant now) = 0;
  [[nodiscard]] virtual bool wants_write() const noexcept = 0;
  /// Writes until there is nothing to write, or `most_bytes` are reached (a frame is not cut, so it
  /// may be one more). Returns how many bytes went out.
  virtual std::size_t write(ClientOutput& output, std::size_t most_bytes) = 0;
  /// Nothing more is read or written: the connection can be closed.
  [[nodiscard]] virtual bool is_over() const noexcept = 0;
  /// Why we ended it, once that has been written; null where we did not.
  [[nodiscard]] virtual const Failure* failure() const noexcept = 0;
  /// Says goodbye (GOAWAY); nothing is begun any more.
  virtual void shut_down() = 0;
  /// Every stream fails with this: the connection is lost, or over.
  virtual void lose(Error error) = 0;
  /// How many streams we may begin beside those that there are: 100 in all until the server says
  /// what it allows; 0 once it takes no more, or stream ids have run out.
  [[nodiscard]] virtual std::size_t room() const noexcept = 0;
  [[nodiscard]] virtual std::size_t stream_count() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t abuse_score() const noexcept = 0;

  // Its streams.

  /// Begins a request. With `has_body` its content is asked for by ClientEvents::read_body. Null
  /// where there is no room.
  virtual ClientStream* request(const RequestLines& head, bool has_body, void* context) = 0;
  /// There is content again after read_body had none.
  virtual void resume_body(ClientStream& stream) = 0;
  /// The consumer has taken so much of the stream's content: the server may send as much again. The
  /// connection's window is given back at once when content arrives, so that a stream which nobody
  /// reads never holds up another.
  virtual void consume(ClientStream& stream, std::size_t bytes) = 0;
  /// The last use of the stream: one that is not over is reset with CANCEL.
  virtual void release(ClientStream& stream) noexcept = 0;

 protected:
  ClientSession() = default;
};

/// The preface and our SETTINGS are the first that it writes. Null where skua was built without
/// nghttp2. `events` outlives it, and is not told of its destruction.
///
/// Ends with: std::bad_alloc.
std::unique_ptr<ClientSession> make_client_session(const ClientSessionOptions& options,
                                                   ClientEvents& events, loop::Instant now);

}  // namespace skua::h2
