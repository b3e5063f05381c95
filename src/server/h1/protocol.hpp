// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "h1/framing.hpp"
#include "http/message/request_parts.hpp"
#include "loop/clock.hpp"
#include "net/stream_pump.hpp"
#include "server/accounting.hpp"
#include "server/h1/exchange.hpp"
#include "server/handler_run.hpp"
#include "server/protocol.hpp"
#include "server/resources.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"

namespace skua::server {

/// HTTP/1.x on one connection: a base of it, so that an idle one does not store who its owner is.
/// Not a Protocol, but its functions are those of one.
///
/// RFC:       9112
class H1Protocol : public ProtocolOwner {
 public:
  H1Protocol(const H1Protocol&) = delete;
  H1Protocol& operator=(const H1Protocol&) = delete;

  [[nodiscard]] Resources& resources() const noexcept { return resources_; }
  [[nodiscard]] net::OutputQueue& output() noexcept { return pump_.output(); }

  void receive(std::span<char> input);
  [[nodiscard]] ProtocolState state(bool is_sending) const noexcept {
    if (exchange_ != nullptr) [[unlikely]]
      return exchange_state();
    return {.waiting = waiting_,
            .can_resume = is_stalled_ && !is_sending,
            .has_work = is_stalled_,
            .wants_input = !is_stalled_,
            .is_finished = is_finished_,
            .is_peer_done = is_peer_done_};
  }
  void resume();
  void output_drained() noexcept;
  [[nodiscard]] loop::Instant deadline() const noexcept;
  void time_out();
  void receive_end();
  void drain();
  void cancel() noexcept;

 protected:
  H1Protocol(Resources& resources, net::StreamPumpUser& user) noexcept;
  ~H1Protocol() = default;

  /// Cancels and drops everything, while the owner still exists.
  void end() noexcept;
  /// Once ProtocolState::is_finished: reports that the peer is too slow to be sent the rest.
  [[nodiscard]] bool is_cut() const noexcept { return is_cut_; }

  Resources& resources_;
  net::StreamPump pump_;
  std::unique_ptr<Protocol> successor_;  ///< another protocol, once it has taken over

 private:
  std::string_view serve(std::string_view input);
  std::string_view read_head(std::string_view input);
  std::string_view begin(const http::Head& head, std::string_view rest);
  SKUA_COLD void upgrade(const http::Head& head, const h1::Framing& framing, Request& request,
                         Response&& response, Accounting::Entry* record);
  std::string_view begin_exchange(const http::Head& head, const h1::Framing& framing,
                                  const Target& target, std::string_view rest);
  void keep_head(std::string_view input);
  void stall(std::string_view input);
  void answer(const http::Head& head, const h1::Framing& framing, const Target& target,
              std::string_view body, bool is_last_received);
  [[nodiscard]] http::RequestParts parts(const http::Head& head, const h1::Framing& framing,
                                         const Target& target) noexcept;
  void write(const http::Head& head, const h1::Framing& framing, Response&& response,
             bool is_last_received, Accounting::Entry* record);
  void write_for_exchange(Response&& response, bool is_last_received, Accounting::Entry* record);
  /// Returns null if responses are not recorded.
  [[nodiscard]] Accounting::Entry* begin_record(const RequestInfo& request_info, Status status,
                                                Errc error = Errc::None);
  void finish_record(Accounting::Entry* record);
  [[nodiscard]] std::optional<std::string> advance_exchange(bool is_last_received);
  [[nodiscard]] bool stays_with_exchange(std::string_view input);
  SKUA_COLD void answer_with_stream(const http::Head& head, const h1::Framing& framing,
                                    Response&& response, Attachments&& attachments,
                                    bool is_last_received, Accounting::Entry* record);
  [[nodiscard]] ProtocolState exchange_state() const noexcept;
  [[nodiscard]] bool can_resume_exchange() const noexcept;
  [[nodiscard]] bool exchange_has_ended() const noexcept;
  void feed(std::string_view input);
  void write_exchange_response(bool is_last_received);
  SKUA_COLD void write_with_stream(Response&& response, bool is_last_received,
                                   Accounting::Entry* record);
  /// Answers a request that cannot be served, and stops reading. `head` is its head, if it was
  /// parsed and is not held by an exchange.
  void refuse(Errc code, const http::Head* head = nullptr);
  Target find(const http::Head& head, const h1::Framing& framing);
  [[nodiscard]] bool has_work() const noexcept { return is_stalled_ || exchange_ != nullptr; }
  [[nodiscard]] bool output_is_full() const noexcept;
  [[nodiscard]] bool is_old() const noexcept;
  PartialRequest& partial_request();
  void drop_partial_request() noexcept;

  std::unique_ptr<PartialRequest>
      partial_request_;                   ///< set only while a message is incomplete or stalled
  std::unique_ptr<H1Exchange> exchange_;  ///< set only while an exchange is in progress
  std::uint32_t ages_at_;                 ///< in units of 2^28 ns (a quarter of a second)
  Waiting waiting_ = Waiting::Request;
  bool is_stalled_ = false;
  bool is_finished_ = false;
  bool is_cut_ : 1 = false;  ///< is_finished_, and the output is not worth waiting for
  bool is_peer_done_ : 1 = false;
};

}  // namespace skua::server
