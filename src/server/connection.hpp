// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/intrusive_list.hpp"
#include "loop/loop.hpp"
#include "net/stream.hpp"
#include "net/stream_pump.hpp"
#include "server/accounting.hpp"
#include "server/h1/protocol.hpp"
#include "server/resources.hpp"

namespace skua::server {

/// A client connection: joins a stream to the protocol spoken on it, and runs its timeouts.
///
/// Lifetime:  from start() until ConnectionOwner::connection_closed.
class Connection final : public base::ListNode, private net::StreamPumpUser, private H1Protocol {
 public:
  Connection(Resources& resources, std::unique_ptr<net::Stream> stream);
  ~Connection() { H1Protocol::end(); }

  /// Starts reading and answering requests.
  void start();
  /// Finishes requests in progress and then closes. An idle connection gets a short grace period.
  void drain();
  /// Closes immediately, aborting requests in progress, because the server stops.
  void stop() noexcept { close(ResponseEnd::Stopped); }

 private:
  void on_established() override;
  void on_receive(std::span<char> bytes) override;
  void on_receive_end(Error error) override;
  void on_send_failed(Error) override { close(ResponseEnd::PeerLeft); }
  void on_dropped(std::size_t count) override { resources_.counters.bytes_received += count; }
  void on_sent(std::uint64_t count) override;
  SKUA_COLD void on_time_out() override;
  void settle() override;
  void on_out_of_memory() noexcept override;
  void on_closing() noexcept override;
  void on_closed() override { resources_.owner.connection_closed(*this); }

  void settle_later() noexcept override { pump_.settle_later(); }
  std::size_t send_now(std::span<const net::Slice> slices) override;
  Accounting* accounting() override;
  [[nodiscard]] skua::Connection& connection() override;

  /// Parts that few connections need.
  struct Extras {
    std::unique_ptr<skua::Connection> known{};  ///< made when a handler asks for it
    std::optional<Accounting> accounting{};     ///< of the first response on, if there is a hook
  };

  [[nodiscard]] H1Protocol& h1() noexcept { return *this; }
  /// Calls with the protocol that the peer speaks. That of nearly all is known to the compiler.
  template <class Call>
  decltype(auto) with_protocol(Call&& call) {
    if (successor_ == nullptr) [[likely]]
      return call(h1());
    return call(*successor_);
  }
  /// Null before the first response, and without a hook.
  [[nodiscard]] Accounting* begun_accounting() const noexcept {
    if (extras_ == nullptr) return nullptr;
    std::optional<Accounting>& own = extras_->accounting;
    return own ? &*own : nullptr;
  }
  Extras& extras();
  [[nodiscard]] bool counts_handshakes() const noexcept {
    return resources_.options.tls.is_enabled();
  }
  /// Closes immediately; `why` is for the records of responses in progress.
  void close(ResponseEnd why) noexcept;
  bool choose_protocol(std::string_view input);
  void begin_protocol();
  void receive_end();
  [[nodiscard]] loop::Instant deadline() noexcept;
  void refuse_plain_http();
  void start_timer(Waiting waiting);
  loop::Instant end_of_patience() noexcept {
    return pump_.has_input_ended() ? end_of_absence() : loop::Instant::max();
  }
  SKUA_COLD loop::Instant end_of_absence() noexcept;
  bool grants_handshake() noexcept;
  /// Reports whether a drain takes the connection for idle unless more of a head arrives soon.
  [[nodiscard]] bool is_late_for_drain(Waiting waiting) const noexcept {
    return waiting == Waiting::Head && resources_.is_draining;
  }

  std::unique_ptr<Extras> extras_;     // outlives what the protocols do
  std::uint32_t absent_since_ = 0;     ///< when the peer was found to have ended its input, in ms
  bool is_absence_timed_ = false;      ///< absent_since_ is set
  bool is_handshake_granted_ = false;  ///< it may continue while the server drains, and then ask
  bool is_new_ = true;                 ///< the peer's protocol is not known yet
  std::uint8_t preface_bytes_ = 0;     ///< length of the HTTP/2 preface seen so far
};
static_assert(sizeof(void*) != 8 || sizeof(Connection) <= 184);  // 192 with the allocator's head

}  // namespace skua::server
