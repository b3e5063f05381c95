// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "net/output_queue.hpp"
#include "server/h1/protocol.hpp"
#include "server/resources.hpp"
#include "server/websocket/takeover.hpp"
#include "server/websocket/upgrades.hpp"

namespace skua::server {

/// A WebSocket, or a tunnel, that has an HTTP/1.1 connection to itself. See SocketProtocol.
class H1Socket final : public SocketProtocol, private ws::Wire {
 public:
  H1Socket(H1Protocol& owner, const Takeovers& users, const detail::Upgrade& upgrade);

  void start(Request& request, const detail::Upgrade& upgrade) override;

  void receive(std::span<char> input) override;
  [[nodiscard]] ProtocolState state(bool is_sending) const noexcept override;
  void resume() override { run_->resume(); }
  void output_drained() noexcept override { run_->output_drained(); }
  [[nodiscard]] loop::Instant deadline() const noexcept override;
  void time_out() override { run_->time_out(); }
  void receive_end() override { run_->receive_end(); }
  void drain() override { run_->drain(); }
  void cancel() noexcept override { run_->cancel(); }

 private:
  void write(std::string_view text) override { output().append(text); }
  void write(Body&& piece) override { output().append_piece(std::move(piece)); }
  void write_frame(std::string_view header, std::string_view payload) override;
  [[nodiscard]] std::uint64_t pending_bytes() const noexcept override {
    return owner_.output().pressure_bytes();
  }
  void settle_later() noexcept override { owner_.settle_later(); }
  void callback_failed(const std::exception_ptr& failure) noexcept override { run_->fail(failure); }
  [[nodiscard]] loop::Instant now() noexcept override { return owner_.resources().loop.now(); }
  [[nodiscard]] ws::Poster poster() override { return owner_.resources().poster(); }

  [[nodiscard]] net::OutputQueue& output() noexcept { return owner_.output(); }

  H1Protocol& owner_;
  const std::unique_ptr<Takeover> run_;
};

}  // namespace skua::server
