// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "net/output_queue.hpp"
#include "server/resources.hpp"
#include "server/websocket/socket_run.hpp"
#include "server/websocket/upgrades.hpp"

namespace skua::server {

/// A WebSocket that has an HTTP/1.1 connection to itself. See SocketSession.
class WsSession final : public SocketSession, private ws::Wire {
 public:
  WsSession(Resources& resources, net::OutputQueue& output, SessionOwner& owner,
            const detail::Upgrade& upgrade);

  void start(Request& request, const detail::Upgrade& upgrade) override;

  void receive(std::span<char> input) override;
  [[nodiscard]] Standing standing(bool is_sending) const noexcept override;
  void resume() override { call_.resume(); }
  void output_drained() noexcept override { call_.socket().output_drained(); }
  [[nodiscard]] loop::Instant deadline() const noexcept override;
  void time_out() override { call_.time_out(); }
  void receive_end() override { call_.socket().receive_end(); }
  void drain() override { call_.drain(); }
  void cancel() noexcept override { call_.cancel(); }

 private:
  void write(std::string_view text) override { output_.append(text); }
  void write(Body&& piece) override { output_.append_piece(std::move(piece)); }
  void write_frame(std::string_view header, std::string_view payload) override;
  [[nodiscard]] std::uint64_t pending_bytes() const noexcept override {
    return output_.pressure_bytes();
  }
  void settle_later() noexcept override { owner_.settle_later(); }
  void callback_failed(const std::exception_ptr& failure) noexcept override { call_.fail(failure); }
  [[nodiscard]] loop::Instant now() noexcept override { return call_.resources().loop.now(); }
  [[nodiscard]] ws::Poster poster() override { return call_.resources().poster(); }

  net::OutputQueue& output_;
  SessionOwner& owner_;
  SocketCall call_;
};

}  // namespace skua::server
