// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "loop/loop.hpp"
#include "server/content_budget.hpp"
#include "server/kept_content.hpp"
#include "skua/body_reader.hpp"
#include "skua/bytes.hpp"
#include "skua/error.hpp"
#include "skua/options.hpp"
#include "skua/waiter.hpp"

namespace skua::server {

/// The protocol that a body arrives by.
class BodySender {
 public:
  /// A reader waits, and the peer does, too: see IncomingBody::take_continue.
  virtual void body_wanted() = 0;
  /// So many bytes of what had arrived were taken: there is room for more.
  virtual void body_taken(std::size_t size_bytes) = 0;

 protected:
  ~BodySender() = default;
};

/// The content of one request: what has arrived and was not read, and the time that the peer has
/// for the rest. It knows no protocol.
///
/// RFC:       9110 §6.4
class IncomingBody final : public detail::BodySource {
 public:
  struct Expected {
    std::uint64_t most_bytes = 0;
    std::optional<std::uint64_t> length_bytes{};
    bool peer_waits = false;  ///< for 100 (Continue), RFC 9110 §10.1.1
  };

  /// All outlive it.
  IncomingBody(const ServerOptions& options, ContentBudget& budget, loop::Loop& loop) noexcept
      : options_(options), budget_(budget), loop_(loop), loaded_(budget) {}
  IncomingBody(const IncomingBody&) = delete;
  IncomingBody& operator=(const IncomingBody&) = delete;
  ~IncomingBody() { clear(); }

  // From the protocol.

  /// Some is on its way. `sender` outlives it, or its use.
  void expect(BodySender& sender, const Expected& expected) noexcept;
  /// So much has come, though it may be of no use. TooSlow, or BodyTooLong, where it is.
  [[nodiscard]] Errc received(std::size_t size_bytes) noexcept;
  /// Keeps what has come for who reads it. Overloaded or OutOfMemory where it cannot be.
  [[nodiscard]] Errc append(std::string_view data);
  /// There is no more; `trailers` outlive it.
  void end(const http::Head& trailers) noexcept;
  /// Whether more of it is to come.
  [[nodiscard]] bool is_arriving() const noexcept { return state_ == State::Arriving; }
  [[nodiscard]] bool is_whole() const noexcept { return state_ == State::Whole; }
  /// Whether more of it is welcome.
  [[nodiscard]] bool has_room() const noexcept;
  [[nodiscard]] std::size_t unread_bytes() const noexcept { return unread_.size(); }
  /// Of what was read: how much is kept until the request is over.
  [[nodiscard]] std::size_t kept_bytes() const noexcept { return kept_bytes_ + loaded_.size(); }

  /// Whether the peer waits for 100 (Continue). To be told now, or never.
  [[nodiscard]] bool take_continue() noexcept;
  [[nodiscard]] bool owes_continue() const noexcept { return owes_continue_; }
  /// Whether the protocol keeps the peer from sending: that time is not held against it.
  void hold_back(bool is_held_back) noexcept;
  [[nodiscard]] bool is_held_back() const noexcept { return is_held_back_; }
  /// Until when the next piece must be here; never where it is not for the peer to send.
  [[nodiscard]] loop::Instant deadline() const noexcept {
    return is_arriving() && !is_paused_ ? deadline_ : loop::Instant::max();
  }

  // For who needs it whole, or not at all. Else it is read piece by piece.

  /// Reads all that is to come, and keeps it.
  void load() noexcept { reader_ = Reader::Loads; }
  /// Reads all that is to come, for nobody.
  void drop() noexcept;
  [[nodiscard]] bool is_dropped() const noexcept { return reader_ == Reader::Drops; }
  [[nodiscard]] std::string_view loaded() const noexcept { return loaded_.view(); }
  void drop_loaded() noexcept { loaded_.clear(); }

  /// Gives back what is kept: the request is over.
  void release() noexcept;
  /// Forgets everything; ready for another.
  void clear() noexcept;

  // For who reads it piece by piece.

  [[nodiscard]] bool has_piece() const noexcept override { return !unread_.empty() || is_whole(); }
  std::optional<Bytes> take() override;
  void wait(detail::Waiter& waiter, std::coroutine_handle<> reader) override;
  [[nodiscard]] const http::Head& trailers() const noexcept override;
  [[nodiscard]] std::size_t most_kept_bytes() const noexcept override;
  [[nodiscard]] std::optional<std::uint64_t> left_bytes() const noexcept override;
  [[nodiscard]] bool keep(std::size_t bytes) noexcept override;

 private:
  enum class State : std::uint8_t { None, Arriving, Whole };
  enum class Reader : std::uint8_t { Takes, Loads, Drops };

  [[nodiscard]] bool is_too_slow() const noexcept;
  void note_turn() noexcept;

  const ServerOptions& options_;
  ContentBudget& budget_;
  loop::Loop& loop_;
  BodySender* sender_ = nullptr;
  KeptContent loaded_;
  std::string unread_;
  std::string handed_;  // what the reader looks at
  detail::WaiterList readers_;
  const http::Head* trailers_ = nullptr;
  Expected expected_;
  std::uint64_t received_bytes_ = 0;
  std::uint64_t taken_bytes_ = 0;
  std::size_t kept_bytes_ = 0;  // by who reads it, counted by the server's budget
  loop::Instant began_{};       // waiting for the peer, less the time for which it waited for us
  loop::Instant paused_{};      // since when it waits for us
  loop::Instant deadline_{};
  State state_ = State::None;
  Reader reader_ = Reader::Takes;
  bool owes_continue_ = false;
  bool is_held_back_ = false;
  bool is_paused_ = false;  // for either of the two reasons
};

}  // namespace skua::server
