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
#include "base/memory.hpp"
#include "h2/abuse_guard.hpp"
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

/// Limits that we announce in our SETTINGS and enforce.
struct Options {
  Role role = Role::Server;
  /// Concurrent streams. A server also counts streams whose handler is still running; a client
  /// opens no more even if the server allows them.
  std::uint32_t streams = 100;
  HeadLimits head{};
  HeadLimits trailers{.field_line_bytes = 8 * 1024, .list_bytes = 8 * 1024, .fields = 64};
  std::uint16_t interim_responses = 32;     ///< per request; else TooManyInterimResponses
  std::uint32_t interim_bytes = 64 * 1024;  ///< total of their heads; else HeadTooLong
  /// Unconsumed content per stream. Together with `streams`, it bounds the memory of a connection.
  std::uint32_t stream_window_bytes = 64 * 1024;
  /// Total growth of all stream windows. A window grows if half of it is consumed within two round
  /// trips, because it may then be slowing down an upload.
  std::uint32_t window_growth_bytes = 4 * 1024 * 1024;
  /// Content in flight, over all streams. This does not bound memory: see Connection::consume.
  std::uint32_t connection_window_bytes = 8 * 1024 * 1024;
  std::uint32_t frame_bytes = first_frame_bytes;  ///< received frames: 16 KiB to 16 MiB - 1
  bool allows_extended_connect = false;           ///< RFC 8441
  AbuseLimits abuse{};
};

/// Returns the default options of a client. Windows are large, since it wants all the content.
constexpr Options client_options() noexcept {
  return {.role = Role::Client,
          .streams = 1000,
          .head = {.target_bytes = 0, .fields = 256},
          .stream_window_bytes = 2 * 1024 * 1024,
          .connection_window_bytes = 16 * 1024 * 1024};
}

/// Content that a consumer has available for sending.
struct BodyRead {
  enum class State : std::uint8_t {
    More,    ///< more will follow; with 0 bytes: none until Connection::resume_body
    End,     ///< these are the last bytes
    Failed,  ///< the content cannot be completed: resets the stream with `failed_with`
  };
  std::size_t bytes = 0;  ///< at most as many as requested
  State state = State::More;
  /// With End: field lines, each `Name: value\r\n`. Read after append_data returns.
  std::string_view trailers{};
  ErrorCode failed_with = ErrorCode::InternalError;
};

/// Content that Connection::send_now has framed.
struct SentNow {
  std::size_t content_bytes = 0;
  std::size_t head_bytes = 0;      ///< of its frames
  std::size_t sent_bytes = 0;      ///< of both, without having been appended
  std::size_t appended_bytes = 0;  ///< content that was appended last
};

/// The reason that a client's stream failed.
struct StreamFailure {
  Error error = Errc::None;
  /// The server reports that it did not process the request, or it was never sent. RFC 9113 §8.7
  bool is_unprocessed = false;
  bool has_begun = false;  ///< the response had begun
};

/// The consumer of a connection: receives its events, supplies content, and takes its output.
///
/// The on_ functions are called from Connection::receive, write and lose; they may call any other
/// member of the connection. An exception ends the connection.
class Events {
 public:
  // Server only.

  /// A request arrived. If `request().error` is set, it must be answered with that error. `is_end`:
  /// there is no content, and on_end is not called.
  virtual void on_request(Stream& stream, bool is_end);
  /// The response was sent before the request was complete, so the peer may still be sending. A
  /// reset with NO_ERROR tells it that the rest is not needed (RFC 9113 §8.1), but some clients
  /// lose the response if both arrive together.
  virtual void on_answered_early(Stream& stream);
  /// The stream is closed, with NoError if both sides completed it. Called once for each reported
  /// request that was not released. The consumer must still call Connection::release once its
  /// handler has ended.
  virtual void on_closed(Stream& stream, ErrorCode reason);

  // Client only. Either on_end or on_failure is called once for each stream, unless it is released
  // first.

  /// The head of an interim response (1xx) or of the final one.
  virtual void on_response(Stream& stream, std::unique_ptr<ReceivedHead> head);
  /// The response will not be completed. This releases the stream.
  virtual void on_failure(Stream& stream, const StreamFailure& failure);
  /// Connection::room may have increased.
  virtual void on_room();

  // Both roles.

  /// Content arrived. Each byte must be returned with Connection::consume.
  virtual void on_data(Stream& stream, std::string_view data) = 0;
  /// The content is complete. `trailers` may be null.
  virtual void on_end(Stream& stream, std::unique_ptr<ReceivedHead> trailers) = 0;
  /// A GOAWAY arrived: the peer opens or accepts no more streams.
  virtual void on_goaway(ErrorCode reason);
  /// Returns how much content the next frame should have. append_data takes exactly that, right
  /// afterwards.
  virtual BodyRead read_body(Stream& stream, std::size_t max_bytes) = 0;

  /// Takes bytes to send, which are valid only during the call.
  virtual void append(std::string_view bytes) = 0;
  /// Takes a frame's head, which is valid only during the call, and behind it the stream's next
  /// content bytes, as many as read_body returned: by copy or by reference. Advances the consumer's
  /// own position in the content.
  virtual void append_data(Stream& stream, std::string_view head, std::size_t bytes) = 0;
  /// Sends at most `max_texts_now` texts at once, behind what was appended. Returns how many of
  /// their bytes were sent.
  SKUA_COLD virtual std::size_t send_now(std::span<const std::string_view> texts);

  static constexpr std::size_t max_texts_now = 16;

 protected:
  ~Events() = default;
};

/// The reason that we ended a connection.
struct Failure {
  ErrorCode code = ErrorCode::NoError;
  std::string reason{};  ///< for logs; contains no data from the peer
};

/// Memory shared by the connections of one thread, so that idle ones own none.
struct Workspace {
  explicit Workspace(std::size_t kept_streams = 256) : streams(kept_streams) {}
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() = default;

  base::Pool<Stream> streams;
  std::string block;          ///< the header block being written
  http::LastAuthority hosts;  ///< the last one of a request
  std::uint64_t own_expanded_bytes = 0;
  /// Counts what heads expand to, in bytes. Must outlive the connections.
  std::uint64_t* expanded_bytes = &own_expanded_bytes;
};

/// An HTTP/2 connection, client or server, without a socket or a clock. Turns received bytes into
/// events, and commands into bytes to send.
///
/// Heads and control frames are written at once, content only by write(), in order of RFC 9218
/// priorities (those of RFC 7540 are declined). Server push is rejected. Not thread-safe.
/// RFC:       9113, 7541, 8441, 9218
class Connection final {
 public:
  /// Writes SETTINGS at once; a client writes the preface first. `events` and `workspace` must
  /// outlive the connection. Its destruction causes no events.
  ///
  /// Ends with: std::bad_alloc.
  Connection(const Options& options, Events& events, Workspace& workspace, loop::Instant now);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // The connection.

  /// Processes all bytes from the peer, including the preface. Protocol violations result in GOAWAY
  /// or RST_STREAM.
  void receive(std::string_view input, loop::Instant now);
  /// Reports whether write() would make progress.
  [[nodiscard]] bool wants_write() const noexcept {
    const bool has_unsent = !is_server() && highest_id_ >= unsent_id_;
    return !due_.empty() || has_unsent || (state_ != State::Over && ready_mask_ != 0);
  }
  /// Writes content until none is left or `max_bytes` are reached. Frames are not split, so the
  /// last one may exceed that. Returns the number of bytes written.
  std::size_t write(std::size_t max_bytes);
  /// Reports whether nothing more is read or written, so that the connection can be closed. A
  /// server gets no events for its remaining streams.
  [[nodiscard]] bool is_over() const noexcept {
    return state_ == State::Over || (state_ == State::Ending && open_count_ == 0 && due_.empty());
  }
  /// The reason that we ended the connection; null if we did not.
  [[nodiscard]] const Failure* failure() const noexcept { return failure_ ? &*failure_ : nullptr; }
  /// Announces the end (GOAWAY with the highest stream id), so that requests in flight are still
  /// served. RFC 9113 §6.8
  void begin_shut_down();
  /// Sends the final GOAWAY. A server then ignores new streams; it should first wait for a round
  /// trip. A client opens no more streams. The connection is over once its streams are.
  void finish_shut_down();
  /// Ends the connection immediately. `reason` is sent to the peer.
  void terminate(ErrorCode code, std::string_view reason) noexcept;
  /// The time of our SETTINGS, if unacknowledged; the caller should end the connection with
  /// SettingsTimeout if that takes too long. RFC 9113 §6.5.3
  [[nodiscard]] std::optional<loop::Instant> settings_pending_since() const noexcept {
    return settings_pending_since_;
  }
  /// The time when an unfinished head, or an unfinished frame other than DATA, began; the caller
  /// should end the connection if that takes too long.
  [[nodiscard]] std::optional<loop::Instant> unfinished_since() const noexcept {
    return unfinished_since_;
  }
  /// The number of streams that are open or that the consumer has not released.
  [[nodiscard]] std::size_t stream_count() const noexcept { return streams_.size(); }
  [[nodiscard]] std::uint32_t abuse_score() const noexcept { return guard_.score(); }

  // Streams. Except for release, these do nothing on a closed stream.

  /// Resumes reading content after read_body returned none.
  void resume_body(Stream& stream) noexcept;
  /// Sends content that no read_body has supplied yet, at once and without copying: what the
  /// windows allow and Events::send_now takes. The rest of a frame that has begun is appended.
  /// Sends nothing while more urgent content waits.
  SKUA_COLD SentNow send_now(Stream& stream, std::string_view content);
  /// Returns consumed content to the stream's window, so that the peer may send as much again. The
  /// connection's window is returned as soon as content arrives, so that an unread stream never
  /// blocks another. At most streams * stream_window_bytes + window_growth_bytes are buffered.
  void consume(Stream& stream, std::size_t bytes);
  void reset(Stream& stream, ErrorCode code);
  /// Ends the consumer's use of the stream. A stream that is not closed is reset with CANCEL and
  /// causes no more events.
  void release(Stream& stream) noexcept;
  /// Frees the bytes of the request's head. Afterwards request() has its method and flags only.
  static void forget_head(Stream& stream) noexcept;
  [[nodiscard]] bool is_blocked_by_window(const Stream& stream) const noexcept {
    return stream.content_ == Stream::Content::Blocked;
  }

  // Server only.

  /// Begins the response; called once. If `has_body` is false, the response is complete; otherwise
  /// Events::read_body supplies its content. The stream ends once the request is complete too, or
  /// is reset: see Events::on_answered_early. A tunnel (2xx to CONNECT) ends when both sides have
  /// ended it, or with release.
  void respond(Stream& stream, const ResponseHead& head, bool has_body);
  /// Sends an interim response before the final one: 100 (Continue) or 103 (Early Hints).
  SKUA_COLD void inform(Stream& stream, Status status, const FieldLines& fields);

  // Client only.

  /// Begins a request. If `has_body` is true, Events::read_body supplies its content. Returns null
  /// if there is no room. A request whose head is too long for any server fails.
  Stream* request(const RequestLines& head, bool has_body, void* context);
  /// The number of streams that may still be opened. The total is 100 until the server announces
  /// its limit. Returns 0 once it accepts no more, or stream ids have run out.
  [[nodiscard]] std::size_t room() const noexcept;
  /// Reports whether the server's SETTINGS have arrived.
  [[nodiscard]] bool has_peer_settings() const noexcept { return peer_streams_.has_value(); }
  /// Reports whether they permit requests with RequestLines::protocol. RFC 8441 §3
  [[nodiscard]] bool permits_extended_connect() const noexcept { return permits_tunnels_; }
  /// Fails every stream with this error, because the connection is lost or over.
  SKUA_COLD void lose(Error error);

 private:
  /// The kind of input that is expected next.
  enum class Reading : std::uint8_t {
    Preface,
    FrameHead,
    Payload,    // of a frame that is buffered until it is complete
    PadLength,  // of a DATA frame
    Content,    // of a DATA frame
    Skipped,    // padding, or the rest of an unknown frame
  };
  enum class State : std::uint8_t {
    Open,
    Ending,  // GOAWAY sent or received: no new streams; over after the last one
    Over,    // ended immediately
  };
  /// The purpose of the header block that is arriving.
  enum class Block : std::uint8_t { None, Discarded, Request, Response, Trailers };

  /// A longer literal does not fit into any section.
  static std::size_t max_literal_bytes(const Options& options) noexcept {
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
  SKUA_COLD void write_settings(const Options& options);
  void write_frame(FrameType type, std::uint8_t flags, std::uint32_t id, std::string_view payload);
  void write_reset(std::uint32_t id, ErrorCode code);
  void write_window_update(std::uint32_t id, std::uint32_t bytes);
  void widen(Stream& stream) noexcept;
  void write_goaway(std::uint32_t last_id, ErrorCode code, std::string_view reason);
  template <class WriteFields>
  void write_block(Stream& stream, bool is_end, const WriteFields& write_fields);
  std::size_t write_data(Stream& stream);
  [[nodiscard]] std::size_t window_of(const Stream& stream) const noexcept;
  [[nodiscard]] std::size_t max_data_bytes() const noexcept;  // of a frame
  void note_data(Stream& stream, std::size_t bytes) noexcept;
  void end_sending(Stream& stream);
  void make_ready(Stream& stream) noexcept;
  void take_turns(Stream& stream, std::size_t sent_bytes) noexcept;
  void leave_ready(Stream& stream, Stream::Content next) noexcept;
  void reprioritize(Stream& stream, Priority priority) noexcept;

  // Streams: connection_send.cpp.
  [[nodiscard]] std::size_t place_of(std::uint32_t id) const noexcept;
  [[nodiscard]] Stream* find_open(std::uint32_t id) const noexcept;
  Stream& open_stream(std::uint32_t id);
  void close_stream(Stream& stream, ErrorCode code) noexcept;
  SKUA_COLD void reset_stream(Stream& stream, ErrorCode code);
  SKUA_COLD void reset_for_error(Stream& stream, ErrorCode code, Error error);
  SKUA_COLD void fail(Stream& stream, StreamFailure failure);
  void report_closed_streams();
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
  HpackDecoder decoder_{default_table_bytes, max_literal_bytes(options_)};
  HpackEncoder encoder_;

  std::vector<Stream*> streams_;          // owned, by id
  std::vector<std::uint32_t> reset_ids_;  // by us; the peer may still send on them
  std::array<base::IntrusiveList<Stream>, urgency_count> ready_;
  base::IntrusiveList<Stream> blocked_;  // by a window, in the order of their turns
  base::IntrusiveList<Stream> due_;      // streams with an end to be reported
  std::uint64_t turns_ = 0;              // of streams to send, given so far
  std::size_t open_count_ = 0;

  std::optional<loop::Instant> settings_pending_since_;
  std::optional<loop::Instant> unfinished_since_;
  std::optional<Failure> failure_;
  Error error_{Errc::None};  // why we end the connection, if the code does not tell
  loop::Instant now_;        // time of the last receive()
  loop::Instant head_began_{};

  std::string pending_;           // an incomplete frame or frame head
  std::string block_rest_;        // an incomplete field of a header block
  FrameHead frame_;               // the current frame
  std::uint32_t left_bytes_ = 0;  // of its content, of skipped bytes, or of the preface
  std::uint32_t pad_bytes_ = 0;
  std::uint32_t block_id_ = 0;
  std::uint32_t highest_id_ = 0;               // server: of the peer's streams; client: of its own
  std::uint32_t unsent_id_ = 1;                // client: streams from here on are not flushed
  std::uint32_t last_taken_id_ = 0x7fff'ffff;  // server: streams above it are ignored
  std::uint64_t begun_ = 0;                    // server: bit n: stream highest_id_ - 2n was begun

  std::int64_t send_window_ = first_window_bytes;
  std::int64_t receive_window_ = first_window_bytes;
  std::uint32_t grown_bytes_ = 0;     // of all stream windows
  Duration round_trip_{0};            // from our SETTINGS to their acknowledgement
  std::uint32_t consumed_bytes_ = 0;  // of the connection, not returned yet
  std::int64_t first_send_window_ = first_window_bytes;  // of a new stream
  std::int64_t first_receive_window_ = first_window_bytes;
  std::uint32_t sent_frame_bytes_ = first_frame_bytes;  // limit on frames that we send
  std::optional<std::uint32_t> peer_streams_;           // its limit, once announced

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
  bool permits_tunnels_ = false;  // the peer has announced SETTINGS_ENABLE_CONNECT_PROTOCOL
};

}  // namespace skua::h2
