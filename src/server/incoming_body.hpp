// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "body/spare_texts.hpp"
#include "loop/loop.hpp"
#include "server/kept_content.hpp"
#include "skua/body_reader.hpp"
#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/options.hpp"
#include "skua/request_limits.hpp"
#include "skua/waiter.hpp"

namespace skua::server {

/// The protocol that delivers a body.
class BodySender {
 public:
  /// Called when a reader waits while the peer waits, too; see IncomingBody::take_continue.
  virtual void body_wanted() = 0;
  /// Called when `size_bytes` of received content were taken, so that there is room for more.
  virtual void body_taken(std::size_t size_bytes) = 0;
  /// Called to send an interim response before the response.
  virtual void inform(Status status, const FieldLines& fields) = 0;

 protected:
  ~BodySender() = default;
};

/// The content of one request, independent of the protocol. Buffers unread content, and tracks the
/// peer's deadline for the rest.
///
/// RFC:       9110 §6.4
class IncomingBody final : public detail::BodySource {
 public:
  struct Expected {
    std::uint64_t max_bytes = 0;
    std::optional<std::uint64_t> length_bytes{};
    const RequestLimits* limits = nullptr;  ///< of its route; null: none
    bool peer_waits = false;                ///< for 100 (Continue), RFC 9110 §10.1.1
  };

  /// All arguments must outlive the body.
  IncomingBody(const ServerOptions& options, ContentBudget& budget, body::SpareTexts& spares,
               loop::Loop& loop) noexcept
      : options_(options), budget_(budget), spares_(spares), loop_(loop), loaded_(budget) {}
  IncomingBody(const IncomingBody&) = delete;
  IncomingBody& operator=(const IncomingBody&) = delete;
  ~IncomingBody() { clear(); }

  // Called by the protocol.

  /// Begins a request, whether or not it has a body. `sender` must outlive its use.
  void attach(BodySender& sender) noexcept { sender_ = &sender; }
  /// Begins a body. `sender` must outlive its use.
  void expect(BodySender& sender, const Expected& expected) noexcept;
  /// Counts received bytes, wanted or not. Returns TooSlow or BodyTooLong if a limit is violated.
  [[nodiscard]] Errc received(std::size_t size_bytes) noexcept;
  /// Counts the last bytes, which are in time and within the limit.
  void received_last(std::size_t size_bytes) noexcept { received_bytes_ += size_bytes; }
  /// Keeps received content for its reader. Returns Overloaded or OutOfMemory if it cannot.
  [[nodiscard]] Errc append(std::string_view data);
  /// Ends the body. `trailers` must outlive it.
  void end(const http::Head& trailers) noexcept;
  /// Reports whether more content is to come.
  [[nodiscard]] bool is_arriving() const noexcept { return state_ == State::Arriving; }
  [[nodiscard]] bool is_whole() const noexcept { return state_ == State::Whole; }
  /// Reports whether there is room for more content.
  [[nodiscard]] bool has_room() const noexcept;
  [[nodiscard]] std::size_t unread_bytes() const noexcept { return unread_.size() + owed_bytes_; }
  /// Returns how much content has arrived, read or not.
  [[nodiscard]] std::uint64_t received_bytes() const noexcept { return received_bytes_; }
  /// Returns how much of the content already read is kept until the end of the request.
  [[nodiscard]] std::size_t kept_bytes() const noexcept { return kept_bytes_ + loaded_.size(); }

  /// Reports whether the peer waits for 100 (Continue), which must then be sent now or never.
  [[nodiscard]] bool take_continue() noexcept;
  [[nodiscard]] bool owes_continue() const noexcept { return owes_continue_; }
  /// Sets whether the protocol keeps the peer from sending. That time does not count against it.
  void hold_back(bool is_held_back) noexcept;
  [[nodiscard]] bool is_held_back() const noexcept { return is_held_back_; }
  /// Returns when the next piece is due; Instant::max() while the peer need not send.
  [[nodiscard]] loop::Instant deadline() const noexcept {
    return is_arriving() && !is_paused_ ? deadline_ : loop::Instant::max();
  }

  // For handlers that need all of the content or none. By default it is read piece by piece.

  /// Keeps all further content in memory.
  void load() noexcept { reader_ = Reader::Loads; }
  /// Discards unread and further content.
  void drop() noexcept;
  [[nodiscard]] bool is_dropped() const noexcept { return reader_ == Reader::Drops; }
  [[nodiscard]] std::string_view loaded() const noexcept { return loaded_.view(); }
  void drop_loaded() noexcept { loaded_.clear(); }

  /// Returns the bytes of keep() to the budget at the end of the request.
  void release() noexcept;
  /// Clears all state, ready for another request.
  void clear() noexcept;

  // For handlers that read piece by piece.

  [[nodiscard]] bool has_piece() const noexcept override {
    return !unread_.empty() || is_whole() || is_full_told_;
  }
  std::optional<Bytes> take() override;
  void wait(detail::Waiter& waiter, std::coroutine_handle<> reader) override;
  [[nodiscard]] const http::Head& trailers() const noexcept override;
  [[nodiscard]] std::size_t max_kept_bytes() const noexcept override;
  [[nodiscard]] std::optional<std::uint64_t> left_bytes() const noexcept override;
  [[nodiscard]] bool keep(std::size_t bytes) noexcept override;
  void inform(Status status, const FieldLines& fields) override {
    if (sender_ != nullptr) sender_->inform(status, fields);
  }
  void allow_pauses(Duration longest) noexcept override;
  void decline() noexcept override { is_declined_ = true; }
  SKUA_COLD void pass_to(const std::weak_ptr<detail::ContentTaker>& taker) noexcept override;

 private:
  enum class State : std::uint8_t { None, Arriving, Whole };
  enum class Reader : std::uint8_t { Takes, Loads, Drops };

  [[nodiscard]] bool is_too_slow() const noexcept;
  SKUA_COLD bool pass_on(std::string_view data);
  SKUA_COLD void make_room();
  void update_pause() noexcept;

  const ServerOptions& options_;
  ContentBudget& budget_;
  body::SpareTexts& spares_;
  loop::Loop& loop_;
  BodySender* sender_ = nullptr;
  KeptContent loaded_;
  std::string unread_;
  std::string handed_;  // the piece that the reader has
  detail::WaiterList readers_;
  std::weak_ptr<detail::ContentTaker> taker_;
  const http::Head* trailers_ = nullptr;
  Expected expected_;
  std::size_t max_kept_bytes_ = 0;
  std::size_t bytes_per_second_ = 0;  // at least, see Timeouts::body_grace
  Duration gap_{};                    // between two pieces, at most
  std::uint64_t received_bytes_ = 0;
  std::uint64_t taken_bytes_ = 0;
  std::size_t owed_bytes_ = 0;  // that filled the taker, until there is room again
  std::size_t kept_bytes_ = 0;  // kept by the reader, counted in the server's budget
  loop::Instant began_{};       // when waiting for the peer began, moved forward by pauses
  loop::Instant paused_{};      // start of the current pause
  loop::Instant deadline_{};
  State state_ = State::None;
  Reader reader_ = Reader::Takes;
  bool owes_continue_ = false;
  bool is_held_back_ = false;
  bool is_paused_ = false;     // the peer waits for us, for either reason above
  bool is_declined_ = false;   // see decline()
  bool is_full_told_ = false;  // the reader is due an empty piece
};

}  // namespace skua::server
