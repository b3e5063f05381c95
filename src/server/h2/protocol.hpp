// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/intrusive_list.hpp"
#include "h2/connection.hpp"
#include "net/output_queue.hpp"
#include "net/stream.hpp"
#include "server/h2/server_stream.hpp"
#include "server/protocol.hpp"
#include "server/resources.hpp"

namespace skua::server {

/// HTTP/2 on one connection.
///
/// RFC:       9113
class H2Protocol final : public Protocol, private h2::Events {
 public:
  H2Protocol(Resources& resources, const net::Stream& stream, net::OutputQueue& output,
             ProtocolOwner& owner);
  ~H2Protocol() override;

  void receive(std::span<char> input) override;
  [[nodiscard]] ProtocolState state(bool is_sending) const noexcept override;
  void resume() override;
  void output_drained() noexcept override {}
  [[nodiscard]] loop::Instant deadline() const noexcept override;
  void time_out() override;
  void receive_end() override;
  void drain() override;
  void cancel() noexcept override;

 private:
  void on_request(h2::Stream& stream, bool is_end) override;
  void on_data(h2::Stream& stream, std::string_view data) override;
  void on_end(h2::Stream& stream, std::unique_ptr<h2::ReceivedHead> trailers) override;
  void on_answered_early(h2::Stream& stream) override;
  void on_closed(h2::Stream& stream, h2::ErrorCode reason) override;
  h2::BodyRead read_body(h2::Stream& stream, std::size_t max_bytes) override;
  void append(std::string_view bytes) override { output_.append(bytes); }
  void append_data(h2::Stream& stream, std::string_view head, std::size_t bytes) override;
  // Not inlined, or the thunk for this base would be a copy.
  [[gnu::noinline]] SKUA_COLD std::size_t send_now(
      std::span<const std::string_view> texts) override;

  [[nodiscard]] bool has_room() const noexcept;
  void give_back(ServerStream& exchange) noexcept;
  void begin_shut_down();
  void open_windows();
  void count_failure();
  [[nodiscard]] loop::Instant end_of_unfinished() const noexcept;

  Resources& resources_;
  const net::Stream& stream_;
  net::OutputQueue& output_;
  ProtocolOwner& owner_;
  H2Turn turn_;
  base::IntrusiveList<ServerStream> exchanges_;  // owned, from on_request to on_closed
  loop::Instant idle_since_;                     // since when there are no exchanges
  loop::Instant ages_at_;
  loop::Instant heard_at_{};                  // during a drain: when the peer last sent something
  std::optional<loop::Instant> finishes_at_;  // when to finish the shutdown
  bool is_shutting_down_ = false;
  bool is_failure_counted_ = false;
  h2::Connection h2_;
};

}  // namespace skua::server
