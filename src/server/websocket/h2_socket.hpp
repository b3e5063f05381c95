// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "body/content_queue.hpp"
#include "h2/connection.hpp"
#include "net/output_queue.hpp"
#include "server/resources.hpp"
#include "server/websocket/takeover.hpp"
#include "server/websocket/upgrades.hpp"

namespace skua::server {

/// A WebSocket, or a tunnel, on a stream of an HTTP/2 connection.
///
/// END_STREAM stands for the end of a connection, RST_STREAM for its loss. Messages that the
/// application has not taken count against the peer's window. Output that the peer does not take is
/// held here, up to ws::wire_high_water_bytes, and then by the socket.
/// RFC:       8441 §5
class H2Socket final : public SocketStream, private ws::Wire {
 public:
  H2Socket(Resources& resources, StreamOwner& owner, h2::Connection& protocol, h2::Stream& stream,
           const Takeovers& users, const detail::Upgrade& upgrade);

  void start(Request& request, const detail::Upgrade& upgrade) override;
  void receive(std::string_view data) override;
  void receive_end() override;

  [[nodiscard]] bool can_advance() const noexcept override;
  void advance() override;
  [[nodiscard]] h2::BodyRead read_body(std::size_t max_bytes) noexcept override;
  void write_data(net::OutputQueue& output, std::string_view head, std::size_t size_bytes) override;

  void drain() override { run_->drain(); }
  [[nodiscard]] std::optional<loop::Instant> deadline() const noexcept override;
  void time_out() override;
  void close() noexcept override;

 private:
  void write(std::string_view text) override;
  void write(Body&& piece) override;
  [[nodiscard]] std::uint64_t pending_bytes() const noexcept override {
    return content_.pressure_bytes();
  }
  void settle_later() noexcept override { owner_.wake(); }
  void callback_failed(const std::exception_ptr& failure) noexcept override { run_->fail(failure); }
  [[nodiscard]] loop::Instant now() noexcept override { return resources_.loop.now(); }
  [[nodiscard]] ws::Poster poster() override { return resources_.poster(); }

  /// Starts the write timeout, and tells the connection that there is output.
  void await_peer();
  [[nodiscard]] bool owes_output() const noexcept { return !content_.empty() || is_ended_; }
  [[nodiscard]] bool owes_window() const noexcept {
    return held_bytes_ != 0 && run_->wants_input();
  }

  Resources& resources_;
  StreamOwner& owner_;
  h2::Connection& session_;
  h2::Stream& stream_;
  body::ContentQueue content_;      // output that the connection has not asked for
  loop::Instant write_deadline_{};  // while there is output, or our end has not been sent
  loop::Instant end_deadline_{};    // after that, for the peer to end its side
  std::size_t held_bytes_ = 0;      // received, and not given back to the peer's window
  bool is_ended_ = false;           // our side ends after content_
  bool is_end_told_ = false;
  bool is_closed_ = false;
  const std::unique_ptr<Takeover> run_;
};

}  // namespace skua::server
