// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/intrusive_list.hpp"
#include "base/pool.hpp"
#include "h2/abuse_guard.hpp"
#include "h2/error_code.hpp"
#include "h2/field_block.hpp"
#include "h2/frame.hpp"
#include "h2/head_builder.hpp"
#include "h2/hpack_decoder.hpp"
#include "h2/hpack_encoder.hpp"
#include "h2/stream.hpp"
#include "loop/clock.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/status.hpp"

namespace skua::h2 {

enum class Role : std::uint8_t { Server, Client };

/// What we tell the peer in our SETTINGS, and hold it to.
struct Options {
  Role role = Role::Server;
  /// At once; a server counts those whose handler still works, a client asks for no more even where
  /// the server allows them.
  std::uint32_t streams = 100;
  HeadLimits head{};
  HeadLimits trailers{.field_line_bytes = 8 * 1024, .list_bytes = 8 * 1024, .fields = 64};
  std::uint16_t interim_responses = 32;     ///< to one request; else TooManyInterimResponses
  std::uint32_t interim_bytes = 64 * 1024;  ///< their heads together; else HeadTooLong
  /// Content of a stream that its consumer has not taken: with `streams` it bounds what a
  /// connection can make us keep.
  std::uint32_t stream_window_bytes = 64 * 1024;
  /// By how much windows may grow, all together: one of which half is taken within two round trips
  /// may be what an upload waits for.
  std::uint32_t window_growth_bytes = 4 * 1024 * 1024;
  /// Content on its way, of all streams. It bounds no memory: see Connection::consume.
  std::uint32_t connection_window_bytes = 8 * 1024 * 1024;
  std::uint32_t frame_bytes =
      first_frame_bytes;                 ///< of a frame that we receive: 16 KiB to 16 MiB - 1
  bool allows_extended_connect = false;  ///< RFC 8441
  AbuseLimits abuse{};
};

/// What a client says where it is not told otherwise: one that waits for content wants all of it.
constexpr Options client_options() noexcept {
  return {.role = Role::Client,
          .streams = 1000,
          .head = {.target_bytes = 0, .fields = 256},
          .stream_window_bytes = 2 * 1024 * 1024,
          .connection_window_bytes = 16 * 1024 * 1024};
}

/// What a consumer has of its content.
struct BodyRead {
  enum class State : std::uint8_t {
    More,    ///< there is more behind it; with no bytes: not yet, until Connection::resume_body
    End,     ///< these were the last
    Failed,  ///< it cannot be completed: the stream is reset with INTERNAL_ERROR
  };
  std::size_t bytes = 0;  ///< at most as many as were asked for
  State state = State::More;
  /// With End: field lines, `Name: value\r\n` each. Valid until the call returns to the connection.
  std::string_view trailers{};
};

/// Why a client's stream did not come to its end.
struct StreamFailure {
  Error error = Errc::None;
  /// The server has not looked at the request, and says so; or it was never sent. RFC 9113 §8.7
  bool is_unprocessed = false;
  bool has_begun = false;  ///< the server had begun to answer
};

/// What a connection tells its consumer, what it asks of it, and where it writes.
///
/// The on_ functions are called from inside Connection::receive, write and lose; any other member
/// may be called then. What they throw ends the connection.
class Events {
 public:
  // A server's.

  /// A request. With `request().error` it is to be answered with that. `is_end`: no content
  /// follows, and on_end is not told.
  virtual void on_request(Stream& stream, bool is_end);
  /// The response was written whole, and the request is not: the peer may still send. A reset with
  /// NO_ERROR tells it that the rest is not needed (RFC 9113 §8.1); some clients lose the response
  /// to one that arrives with it.
  virtual void on_answered_early(Stream& stream);
  /// The stream is over: NoError if both sides said all that they had to say. Told once for each
  /// request that was told and not released; Connection::release is due when its handler has
  /// ended, too.
  virtual void on_closed(Stream& stream, ErrorCode reason);

  // A client's. Of each stream that is not released before, either on_end or on_failure is told,
  // once.

  /// The head of an interim response (1xx), or of the final one.
  virtual void on_response(Stream& stream, std::unique_ptr<ReceivedHead> head);
  /// The response will not be whole. The stream is released with this.
  virtual void on_failure(Stream& stream, const StreamFailure& failure);
  /// Connection::room may be more than before.
  virtual void on_room();

  // Of both.

  /// Content; each byte is to be given back with Connection::consume.
  virtual void on_data(Stream& stream, std::string_view data) = 0;
  /// The content is whole. `trailers` is null where there are none.
  virtual void on_end(Stream& stream, std::unique_ptr<ReceivedHead> trailers) = 0;
  /// The peer begins nothing more, or takes nothing more.
  virtual void on_goaway(ErrorCode reason);
  /// How much of our content there is. What is said here is taken by append_payload, at once.
  virtual BodyRead read_body(Stream& stream, std::size_t most_bytes) = 0;

  /// Bytes to be sent, valid during the call only.
  virtual void append(std::string_view bytes) = 0;
  /// The next bytes of this stream's content, as many as read_body has told: by copy, by reference
  /// or as a range of a file. Moves the consumer's own position in the content.
  virtual void append_payload(Stream& stream, std::size_t bytes) = 0;

 protected:
  ~Events() = default;
};

/// Why we ended a connection.
struct Failure {
  ErrorCode code = ErrorCode::NoError;
  std::string reason{};  ///< for logs; it holds nothing that the peer sent
};

/// What the connections of one thread take turns with, so that an idle one owns none of it.
struct Workspace {
  explicit Workspace(std::size_t kept_streams = 256) : streams(kept_streams) {}

  base::Pool<Stream> streams;
  std::string block;          ///< a head that is written
  http::LastAuthority hosts;  ///< of requests
};

/// One HTTP/2 connection, of either side, without a socket and without a clock: bytes in, events
/// out; commands in, bytes out.
///
/// Heads and control frames go out when they are made; content when write() asks for it, in the
/// order of RFC 9218's priorities (those of RFC 7540 are declined). Server push is refused. Not
/// thread-safe.
/// RFC:       9113, 7541, 8441, 9218
class Connection final {
 public:
  /// The preface and SETTINGS are the first that is written, at once. `events` and `workspace`
  /// outlive it; `events` is not told of its destruction.
  ///
  /// Ends with: std::bad_alloc.
  Connection(const Options& options, Events& events, Workspace& workspace, loop::Instant now);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // The connection.

  /// Takes bytes of the peer, all of them, the preface included. What breaks the rules ends in a
  /// GOAWAY or RST_STREAM.
  void receive(std::string_view input, loop::Instant now);
  /// Whether write() would get somewhere.
  [[nodiscard]] bool wants_write() const noexcept {
    const bool has_unsent = !is_server() && highest_id_ >= unsent_id_;
    return !due_.empty() || has_unsent || (state_ != State::Over && ready_mask_ != 0);
  }
  /// Writes content until there is none, or `most_bytes` are reached (a frame is not cut, so it may
  /// be one more). Returns how many bytes went out.
  std::size_t write(std::size_t most_bytes);
  /// Nothing more is read or written: the connection can be closed. A server's streams that it
  /// takes along are not told of.
  [[nodiscard]] bool is_over() const noexcept {
    return state_ == State::Over || (state_ == State::Ending && open_count_ == 0 && due_.empty());
  }
  /// Why we ended it; null if we did not.
  [[nodiscard]] const Failure* failure() const noexcept { return failure_ ? &*failure_ : nullptr; }
  /// Announces the end (GOAWAY with the highest stream id), so that requests on their way are
  /// served. RFC 9113 §6.8
  void begin_shut_down();
  /// A server: at least a round trip later, refuses new streams. A client: says goodbye; nothing is
  /// begun any more. It is over when the streams in progress are.
  void finish_shut_down();
  /// Ends everything at once. `reason` goes to the peer.
  void terminate(ErrorCode code, std::string_view reason) noexcept;
  /// Since when the peer has not acknowledged our SETTINGS; for the caller to end it with
  /// SettingsTimeout. RFC 9113 §6.5.3
  [[nodiscard]] std::optional<loop::Instant> settings_pending_since() const noexcept {
    return settings_pending_since_;
  }
  /// Since when the peer has begun a head, or a frame other than DATA, and not ended it; for the
  /// caller to end the connection.
  [[nodiscard]] std::optional<loop::Instant> unfinished_since() const noexcept {
    return unfinished_since_;
  }
  /// Streams that are open, or that the consumer has not released.
  [[nodiscard]] std::size_t stream_count() const noexcept { return streams_.size(); }
  [[nodiscard]] std::uint32_t abuse_score() const noexcept { return guard_.score(); }

  // Streams. On a closed stream these do nothing, but for release.

  /// There is content again after read_body had none.
  void resume_body(Stream& stream) noexcept;
  /// The consumer has taken so much of the stream's content: the peer may send as much again. The
  /// connection's window is given back at once when content arrives, so that a stream which nobody
  /// reads never holds up another: at most streams * stream_window_bytes are in our memory.
  void consume(Stream& stream, std::size_t bytes);
  void reset(Stream& stream, ErrorCode code);
  /// The consumer is done with it: the last use of the stream. One that is not over is reset with
  /// CANCEL, and nothing more is told of it.
  void release(Stream& stream) noexcept;
  [[nodiscard]] bool is_blocked_by_window(const Stream& stream) const noexcept {
    return stream.content_ == Stream::Content::Blocked;
  }

  // A server's.

  /// Begins the response: once. Without `has_body` it is complete; otherwise its content is asked
  /// for by Events::read_body. The stream ends when the request is whole, too, or is reset: see
  /// Events::on_answered_early. One that opens a tunnel (a 2xx to CONNECT) ends when both sides
  /// have ended it, or with release.
  void respond(Stream& stream, const ResponseHead& head, bool has_body);
  /// An informational response before it: 100 (Continue), 103 (Early Hints).
  SKUA_COLD void inform(Stream& stream, Status status, const FieldLines& fields);

  // A client's.

  /// Begins a request. With `has_body` its content is asked for by Events::read_body. Null if there
  /// is no room; one whose head is too long for any server fails.
  Stream* request(const RequestLines& head, bool has_body, void* context);
  /// How many streams may be begun beside those that there are: 100 in all until the server says
  /// what it allows; 0 once it takes no more, or stream ids have run out.
  [[nodiscard]] std::size_t room() const noexcept;
  /// Every stream fails with this: the connection is lost, or over.
  SKUA_COLD void lose(Error error);

 private:
  /// How far the peer's bytes are read.
  enum class Reading : std::uint8_t {
    Preface,
    FrameHead,
    Payload,    // of a frame that is kept until it is whole
    PadLength,  // of a DATA frame
    Content,    // of a DATA frame
    Skipped,    // what is left of a frame that nobody wants
  };
  enum class State : std::uint8_t {
    Open,
    Ending,  // GOAWAY was sent or received: nothing new, and over with the last stream
    Over,    // ended at once
  };
  /// What a header block that arrives is for.
  enum class Block : std::uint8_t { None, Discarded, Request, Response, Trailers };

  /// A literal that is longer than this is too long for any section.
  static std::size_t most_literal_bytes(const Options& options) noexcept {
    return 2 * std::max(options.head.list_bytes, options.trailers.list_bytes);
  }

  // Frames in: connection_receive.cpp.
  void take(std::string_view input);
  SKUA_COLD void take_preface(std::string_view& input);
  void take_frame_head(std::string_view& input);
  void take_payload(std::string_view& input);
  void take_content(std::string_view& input);
  void begin_frame();
  [[nodiscard]] bool is_allowed_here(const FrameHead& frame);
  void charge_frame();
  void end_frame(std::string_view payload);
  void begin_data();
  void place_content(std::uint32_t pad_bytes);
  void end_data();
  void on_settings(std::string_view payload);
  bool apply_setting(Setting setting, std::uint32_t value);
  void change_send_windows(std::int64_t by);
  void unblock() noexcept;
  void acknowledge_settings() noexcept;
  void on_ping(std::string_view payload);
  void on_goaway(std::string_view payload);
  void on_window_update(std::uint32_t increment);
  void on_reset(ErrorCode code);
  void on_priority(std::uint32_t parent);
  void on_priority_update(std::string_view payload);
  void note_unfinished() noexcept;

  // Header blocks.
  void on_headers(std::string_view payload);
  SKUA_COLD void on_continuation(std::string_view payload);
  void begin_block();
  void begin_request();
  void begin_section(Stream& stream);
  void take_block(std::string_view fragment, bool is_last);
  bool take_field(const DecodedField& field, HeadBuilder* builder);
  void end_block();
  void on_request_head(Stream& stream);
  void on_response_head(Stream& stream);
  SKUA_COLD void on_interim_head(Stream& stream);
  SKUA_COLD void on_trailers(Stream& stream);
  void end_content(Stream& stream, std::unique_ptr<ReceivedHead> trailers);

  // Frames out: connection_send.cpp.
  void write_settings(const Options& options);
  void write_frame(FrameType type, std::uint8_t flags, std::uint32_t id, std::string_view payload);
  void write_reset(std::uint32_t id, ErrorCode code);
  void write_window_update(std::uint32_t id, std::uint32_t bytes);
  void widen(Stream& stream) noexcept;
  void write_goaway(std::uint32_t last_id, ErrorCode code, std::string_view reason);
  template <class WriteFields>
  void write_block(Stream& stream, bool is_end, const WriteFields& write_fields);
  std::size_t write_data(Stream& stream);
  void end_sending(Stream& stream);
  void make_ready(Stream& stream) noexcept;
  void leave_ready(Stream& stream, Stream::Content next) noexcept;
  void reprioritize(Stream& stream, Priority priority) noexcept;

  // Streams: connection_send.cpp.
  [[nodiscard]] std::size_t place_of(std::uint32_t id) const noexcept;
  [[nodiscard]] Stream* find_open(std::uint32_t id) const noexcept;
  Stream& open_stream(std::uint32_t id);
  void close_stream(Stream& stream, ErrorCode code) noexcept;
  SKUA_COLD void reset_stream(Stream& stream, ErrorCode code);
  SKUA_COLD void punish(Stream& stream, ErrorCode code, Error error);
  SKUA_COLD void fail(Stream& stream, StreamFailure failure);
  void tell_due();
  void recycle(Stream& stream) noexcept;
  [[nodiscard]] bool is_idle(std::uint32_t id) const noexcept;
  [[nodiscard]] bool is_ignored(std::uint32_t id) const noexcept {
    return options_.role == Role::Server && id > last_taken_id_;
  }
  [[nodiscard]] bool was_begun(std::uint32_t id) const noexcept;
  [[nodiscard]] bool was_reset_by_us(std::uint32_t id) const noexcept;
  void remember_reset(std::uint32_t id);
  void forget_reset(std::uint32_t id) noexcept;
  [[nodiscard]] bool takes_input() const noexcept { return state_ != State::Over; }
  [[nodiscard]] bool is_server() const noexcept { return options_.role == Role::Server; }
  [[nodiscard]] Error connection_error() const noexcept;
  void charge(Abuse what) noexcept { guard_.charge(what, now_); }
  void end_abuse();
  void break_off() noexcept;

  const Options options_;
  Events& events_;
  Workspace& workspace_;
  AbuseGuard guard_;
  HpackDecoder decoder_{default_table_bytes, most_literal_bytes(options_)};
  HpackEncoder encoder_;

  std::vector<Stream*> streams_;          // owned, by id
  std::vector<std::uint32_t> reset_ids_;  // by us, while the peer may still send on them
  std::array<base::IntrusiveList<Stream>, urgency_count> ready_;
  base::IntrusiveList<Stream> due_;  // the consumer has to be told that they ended
  std::size_t open_count_ = 0;

  std::optional<loop::Instant> settings_pending_since_;
  std::optional<loop::Instant> unfinished_since_;
  std::optional<Failure> failure_;
  Error error_{Errc::None};  // why we end the connection, where the code does not say it
  loop::Instant now_;        // of the last receive()
  loop::Instant head_began_{};

  std::string pending_;           // a frame, or the head of one, that has not come whole
  std::string block_rest_;        // of a header block: a field that has not come whole
  FrameHead frame_;               // that is read
  std::uint32_t left_bytes_ = 0;  // of its content, of what is skipped, or of the preface
  std::uint32_t pad_bytes_ = 0;
  std::uint32_t block_id_ = 0;
  std::uint32_t highest_id_ = 0;  // a server: of the peer's streams; a client: of its own
  std::uint32_t unsent_id_ = 1;   // a client: from here on nothing has been flushed
  std::uint32_t last_taken_id_ = 0x7fff'ffff;  // a server: streams above it are ignored
  std::uint64_t begun_ = 0;  // a server: bit n, the stream highest_id_ - 2n was begun

  std::int64_t send_window_ = first_window_bytes;
  std::int64_t receive_window_ = first_window_bytes;
  std::uint32_t grown_bytes_ = 0;     // of the windows of all streams
  Duration round_trip_{0};            // from our SETTINGS to their acknowledgement
  std::uint32_t consumed_bytes_ = 0;  // of the connection, not given back yet
  std::int64_t first_send_window_ = first_window_bytes;  // of a new stream
  std::int64_t first_receive_window_ = first_window_bytes;
  std::uint32_t sent_frame_bytes_ = first_frame_bytes;  // of a frame that we send
  std::optional<std::uint32_t> peer_streams_;           // that it allows; none: it has not said

  Reading reading_ = Reading::FrameHead;
  State state_ = State::Open;
  Block block_ = Block::None;
  std::uint8_t ready_mask_ = 0;  // bit n: ready_[n] is not empty
  bool is_block_end_ = false;    // the block ends its stream
  bool is_block_malformed_ = false;
  bool is_self_dependent_ = false;
  bool has_settings_ = false;
  bool has_begun_frame_ = false;  // in this receive()
  bool is_abused_ = false;
};

}  // namespace skua::h2
