// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/intrusive_list.hpp"
#include "h2/error_code.hpp"
#include "h2/head_builder.hpp"
#include "h2/priority.hpp"
#include "http/field.hpp"
#include "skua/error.hpp"

namespace skua::h2 {

/// A head or a trailer section that was received, with its bytes.
struct ReceivedHead {
  HeadBuilder builder{};
  http::Head head{};  ///< views into the builder
};

/// One request and its response, as a connection and its consumer know it. Owned by the connection.
///
/// Lifetime:  until Connection::release and the end of the stream, whichever is later: what the
///            peer resets counts against its streams for as long as a handler works on it.
/// RFC:       9113 §5.1
class Stream final : public base::ListNode {
 public:
  Stream() = default;

  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
  /// What the peer may send before the consumer has taken any of it.
  [[nodiscard]] std::uint32_t window_bytes() const noexcept { return window_bytes_; }
  /// A server's: valid from Events::on_request on, for the lifetime of the stream.
  [[nodiscard]] const RequestHead& request() const noexcept { return request_; }
  /// The peer has sent all of its content.
  [[nodiscard]] bool has_received_all() const noexcept { return has_received_all_; }
  /// It was reset by either side, or is over: nothing can be sent any more.
  [[nodiscard]] bool is_closed() const noexcept { return state_ == State::Closed; }
  /// A response was begun (1xx not counted): by us, or by the peer.
  [[nodiscard]] bool has_response() const noexcept { return has_response_; }

  void* context = nullptr;  ///< the consumer's own

 private:
  friend class Connection;

  enum class State : std::uint8_t { Open, HalfClosedLocal, HalfClosedRemote, Closed };

  /// What there is of our content.
  enum class Content : std::uint8_t {
    None,     ///< our head is not out, or the consumer has to be asked for nothing
    Ready,    ///< the consumer may have some: it is in a ready list
    Waiting,  ///< the consumer had none: until Connection::resume_body
    Blocked,  ///< the peer's window is shut
    Ended,    ///< END_STREAM is out
  };

  /// Another stream begins.
  void open(std::uint32_t id) noexcept;
  /// It is over: what it kept is gone, but for some memory.
  void let_go() noexcept;
  [[nodiscard]] bool is_peer_done() const noexcept {
    return state_ == State::HalfClosedRemote || state_ == State::Closed;
  }
  [[nodiscard]] bool are_we_done() const noexcept {
    return state_ == State::HalfClosedLocal || state_ == State::Closed;
  }

  HeadBuilder head_;
  RequestHead request_;
  std::unique_ptr<ReceivedHead> section_;  // a response's head, or trailers, while they arrive
  std::optional<std::uint64_t> length_bytes_;
  std::uint64_t framed_bytes_ = 0;  // content that DATA frames have announced
  std::int64_t send_window_ = 0;    // may be less than 0: RFC 9113 §6.9.2
  std::int64_t receive_window_ = 0;
  std::uint32_t window_bytes_ = 0;    // what the peer may send at once
  std::uint32_t consumed_bytes_ = 0;  // not given back to the peer's window yet
  loop::Instant given_back_at_{};     // some of it, last
  std::uint32_t interim_bytes_ = 0;
  std::uint32_t id_ = 0;
  ErrorCode closed_with_ = ErrorCode::NoError;
  Errc reset_for_ = Errc::None;  // a client's: why we reset it
  std::uint16_t interim_count_ = 0;
  State state_ = State::Open;
  Content content_ = Content::None;
  Priority priority_{};
  bool has_received_all_ = false;
  bool has_response_ = false;
  bool has_begun_ = false;      // the response, 1xx counted
  bool is_told_ = false;        // the consumer knows of it
  bool is_close_told_ = false;  // and that it is closed
  bool is_released_ = false;    // the consumer is done with it
  bool is_tunnel_ = false;      // what follows the heads is of another protocol: RFC 9113 §8.5
  bool is_head_request_ = false;
};

}  // namespace skua::h2
