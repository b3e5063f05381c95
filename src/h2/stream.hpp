// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/intrusive_list.hpp"
#include "h2/frame.hpp"
#include "h2/head_builder.hpp"
#include "h2/priority.hpp"
#include "http/message/field.hpp"
#include "skua/error.hpp"

namespace skua::h2 {

/// A received head or trailer section, with its bytes.
struct ReceivedHead {
  HeadBuilder builder{};
  http::Head head{};  ///< views into the builder
};

/// A request and its response, shared by a connection and its consumer. Owned by the connection.
///
/// Lifetime:  until Connection::release or the end of the stream, whichever is later: streams that
///            the peer resets count toward its limit while a handler works on them.
/// RFC:       9113 §5.1
class Stream final : public base::ListNode {
 public:
  Stream() = default;

  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
  /// The amount that the peer may send before the consumer takes any of it.
  [[nodiscard]] std::uint32_t window_bytes() const noexcept { return window_bytes_; }
  /// Server only: valid from Events::on_request to Connection::forget_head() or the stream's end.
  [[nodiscard]] const RequestHead& request() const noexcept { return request_; }
  /// The size of the request's head as HeadLimits::list_bytes counts it; 0 once it is forgotten.
  [[nodiscard]] std::size_t head_bytes() const noexcept { return head_.list_bytes(); }
  /// Reports whether the peer has sent all of its content.
  [[nodiscard]] bool has_received_all() const noexcept { return has_received_all_; }
  /// Reports whether the stream is over or was reset by either side: nothing more can be sent.
  [[nodiscard]] bool is_closed() const noexcept { return state_ == State::Closed; }
  /// Reports whether a final response was begun, by us or by the peer.
  [[nodiscard]] bool has_response() const noexcept { return has_response_; }

  void* context = nullptr;  ///< for the consumer's use

 private:
  friend class Connection;

  enum class State : std::uint8_t { Open, HalfClosedLocal, HalfClosedRemote, Closed };

  /// The state of our content.
  enum class Content : std::uint8_t {
    None,     ///< our head is not sent, or there is no content to ask for
    Ready,    ///< in a ready list: the consumer may have some
    Waiting,  ///< the consumer has none until Connection::resume_body
    Blocked,  ///< the peer's window is closed; in the list of blocked streams
    Ended,    ///< END_STREAM is written
  };

  /// Initializes the object for a new stream.
  void open(std::uint32_t id) noexcept;
  /// Clears a stream that is over, keeping small buffers for reuse.
  void let_go() noexcept;
  [[nodiscard]] bool is_peer_done() const noexcept {
    return state_ == State::HalfClosedRemote || state_ == State::Closed;
  }
  [[nodiscard]] bool are_we_done() const noexcept {
    return state_ == State::HalfClosedLocal || state_ == State::Closed;
  }

  HeadBuilder head_;
  RequestHead request_;
  std::unique_ptr<ReceivedHead> section_;  // a response head or trailers, while they arrive
  std::optional<std::uint64_t> length_bytes_;
  std::uint64_t framed_bytes_ = 0;  // content announced by DATA frames
  std::int64_t send_window_ = 0;    // may be negative: RFC 9113 §6.9.2
  std::int64_t receive_window_ = 0;
  std::uint32_t window_bytes_ = 0;    // the size of the full window
  std::uint32_t consumed_bytes_ = 0;  // not returned to the peer's window yet
  loop::Instant given_back_at_{};     // when some was last returned
  std::uint64_t turn_ = 0;            // when its turn to send is: those with lower numbers first
  std::uint32_t turn_bytes_ = 0;      // sent in this turn
  std::uint32_t interim_bytes_ = 0;
  std::uint32_t id_ = 0;
  ErrorCode closed_with_ = ErrorCode::NoError;
  Errc reset_for_ = Errc::None;  // client: why we reset it
  std::uint16_t interim_count_ = 0;
  State state_ = State::Open;
  Content content_ = Content::None;
  Priority priority_{};
  bool has_received_all_ = false;
  bool has_response_ = false;
  bool has_begun_ = false;      // the response, including 1xx
  bool is_told_ = false;        // reported to the consumer
  bool is_close_told_ = false;  // on_closed was called
  bool is_released_ = false;    // by the consumer
  bool is_tunnel_ = false;      // another protocol follows the heads: RFC 9113 §8.5
  bool is_head_request_ = false;
};

}  // namespace skua::h2
