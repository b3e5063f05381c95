// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <nghttp2/nghttp2.h>

#include "h2/abuse_guard.hpp"
#include "h2/error_code.hpp"
#include "h2/frame_scan.hpp"
#include "h2/nv_list.hpp"
#include "h2/session.hpp"
#include "loop/clock.hpp"

namespace skua::h2 {

inline std::uint32_t id_of(const nghttp2_frame& frame) noexcept {
  return static_cast<std::uint32_t>(frame.hd.stream_id);
}
inline bool ends_stream(const nghttp2_frame& frame) noexcept {
  return (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
}

/// What an engine tells a session. What is thrown ends the connection; the numbers that are
/// returned are nghttp2's. Internal: it shows nghttp2.
class EngineUser {
 public:
  // Before nghttp2 sees a frame, which does not tell of what it ignores.

  /// Whether nothing is expected on a stream any more.
  [[nodiscard]] virtual bool is_late(std::uint32_t stream_id) const noexcept = 0;
  /// Other than NoError ends the connection.
  virtual ErrorCode check(const FrameHead& frame) = 0;

  // What nghttp2 tells; see Callbacks.

  virtual int on_begin_headers(const nghttp2_frame& frame) = 0;
  virtual int on_header(const nghttp2_frame& frame, std::string_view name,
                        std::string_view value) = 0;
  virtual int on_frame(const nghttp2_frame& frame) = 0;
  virtual int on_invalid_frame(const nghttp2_frame& frame, int error) = 0;
  virtual int on_data(std::uint32_t id, std::string_view data) = 0;
  virtual int on_close(std::uint32_t id, ErrorCode code) = 0;
  virtual int on_sent(const nghttp2_frame& frame) = 0;
  virtual int on_not_sent(const nghttp2_frame& frame, int error) = 0;
  virtual ssize_t read_body(std::uint32_t id, std::size_t most_bytes, std::uint32_t& flags) = 0;

  // Where write() writes.

  virtual void append(std::string_view bytes) = 0;
  /// The content that read_body has told.
  virtual void append_payload(std::uint32_t id, std::size_t bytes) = 0;

 protected:
  ~EngineUser() = default;
};

/// The connection, of either side: bytes into nghttp2, counted by an AbuseGuard before; bytes out
/// of it; and its end. Internal: it shows nghttp2.
class Engine final {
 public:
  enum class Side : std::uint8_t { Server, Client };

  /// `user` outlives it. Ends with: std::bad_alloc.
  Engine(Side side, EngineUser& user, const AbuseLimits& abuse, loop::Instant now);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  /// The first that is written. The values are those that RFC 9113 §6.5.2 allows.
  void submit_settings(std::span<const nghttp2_settings_entry> entries,
                       std::uint32_t connection_window_bytes);
  void receive(std::string_view input, loop::Instant now);
  [[nodiscard]] bool wants_write() const noexcept;
  std::size_t write(std::size_t most_bytes);
  [[nodiscard]] bool is_over() const noexcept;
  [[nodiscard]] const Failure* failure() const noexcept { return failure_ ? &*failure_ : nullptr; }
  void terminate(ErrorCode code, std::string_view reason);
  /// False from terminate() on.
  [[nodiscard]] bool takes_input() const noexcept { return !is_terminating_ && !is_broken_; }

  /// What EngineUser::read_body returns for content that is there; submits the trailers.
  /// `most_bytes`: how much was asked for.
  ssize_t pass_on(std::uint32_t id, const BodyRead& read, std::size_t most_bytes,
                  std::uint32_t& flags);

  /// Whether it was ended for more than the AbuseGuard puts up with.
  [[nodiscard]] bool is_abused() const noexcept { return is_abused_; }
  /// Since when the peer has begun a head, or a frame other than DATA, and not ended it.
  [[nodiscard]] std::optional<loop::Instant> unfinished_since() const noexcept {
    return unfinished_since_;
  }

  /// Fields that are about to be submitted; one list, for its memory.
  [[nodiscard]] NvList& fields() noexcept { return fields_; }
  [[nodiscard]] nghttp2_session* session() const noexcept { return nghttp2_.get(); }
  [[nodiscard]] AbuseGuard& guard() noexcept { return guard_; }
  [[nodiscard]] const AbuseGuard& guard() const noexcept { return guard_; }
  void charge(Abuse what) noexcept { guard_.charge(what, now_); }
  /// Of the last receive().
  [[nodiscard]] loop::Instant now() const noexcept { return now_; }
  /// What the user has given nghttp2 for a stream; null where that has forgotten the stream.
  [[nodiscard]] void* find(std::uint32_t stream_id) const noexcept {
    return nghttp2_session_get_stream_user_data(nghttp2_.get(),
                                                static_cast<std::int32_t>(stream_id));
  }

 private:
  friend struct Callbacks;

  void check_frames(std::string_view input);
  void note_unfinished() noexcept;
  void end_abuse();
  void give_up() noexcept;
  void append(std::string_view frame);
  void charge(const FrameHead& frame);
  void feed(std::string_view input);
  void fail(int nghttp2_error);
  int on_sent(const nghttp2_frame& frame);
  int send_data(const nghttp2_frame& frame, std::string_view frame_head, std::size_t bytes);

  struct Free {
    void operator()(nghttp2_session* session) const noexcept { nghttp2_session_del(session); }
  };

  EngineUser& user_;
  const Side side_;
  FrameScan scan_;
  std::string partial_head_;  // of a frame
  AbuseGuard guard_;
  loop::Instant now_;
  NvList fields_;
  std::optional<Failure> failure_;
  std::optional<std::uint32_t> told_streams_;  // until our SETTINGS are written
  std::optional<loop::Instant> unfinished_since_;
  loop::Instant head_began_{};
  std::size_t written_bytes_ = 0;
  std::size_t most_bytes_ = 0;
  bool is_terminating_ = false;
  bool is_terminated_ = false;  // and that has been written
  bool is_broken_ = false;      // nghttp2 is of no use any more
  bool is_abused_ = false;
  bool is_head_open_ = false;     // HEADERS without END_HEADERS
  bool has_begun_frame_ = false;  // by the last input
  std::unique_ptr<nghttp2_session, Free> nghttp2_;
};

}  // namespace skua::h2
