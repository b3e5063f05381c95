// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string_view>
#include <utility>

#include "net/output_queue.hpp"
#include "server/h1/protocol.hpp"
#include "server/resources.hpp"
#include "server/websocket/carrier.hpp"
#include "server/websocket/upgrades.hpp"

namespace skua::server {

/// A WebSocket, or a tunnel, that has an HTTP/1.1 connection to itself. See SocketProtocol.
///
/// The user is a part of it, so that an idle WebSocket is one object.
template <class User>
class H1Socket final : public SocketProtocol, private Carrier {
 public:
  H1Socket(H1Protocol& owner, const detail::Upgrade& upgrade)
      : owner_(owner), user_(static_cast<Carrier&>(*this), upgrade) {}

  void start(Request& request, const detail::Upgrade& upgrade) override {
    user_.start(request, upgrade);
    if (resources().is_draining) user_.drain();
  }

  void receive(std::span<char> input) override { user_.receive(input); }
  [[nodiscard]] ProtocolState state(bool is_sending) const noexcept override;
  void resume() override { user_.resume(); }
  void output_drained() noexcept override { user_.output_drained(); }
  [[nodiscard]] loop::Instant deadline() const noexcept override {
    return user_.deadline().value_or(loop::Instant::max());
  }
  void time_out() override { user_.time_out(); }
  void receive_end() override { user_.receive_end(); }
  void drain() override { user_.drain(); }
  void cancel() noexcept override { user_.cancel(); }

 private:
  // A longer payload is sent at once without copying it: a copy costs more than the system call
  // that batching would save.
  static constexpr std::size_t copied_bytes = 16 * 1024;

  [[nodiscard]] Resources& resources() const noexcept override { return owner_.resources(); }
  void write(std::string_view text) override { output().append(text); }
  void write(Body&& piece) override { output().append_piece(std::move(piece)); }
  void write_frame(std::string_view header, std::string_view payload) override;
  [[nodiscard]] std::uint64_t pending_bytes() const noexcept override {
    return output().pressure_bytes();
  }
  void settle_later() noexcept override { owner_.settle_later(); }
  void callback_failed(const std::exception_ptr& failure) noexcept override { user_.fail(failure); }
  void on_message(const Message& message) noexcept override { user_.on_message(message); }
  void on_drained() noexcept override { user_.on_drained(); }

  [[nodiscard]] net::OutputQueue& output() const noexcept { return owner_.output(); }

  H1Protocol& owner_;
  User user_;
};

template <class User>
void H1Socket<User>::write_frame(std::string_view header, std::string_view payload) {
  std::size_t sent = 0;
  if (payload.size() >= copied_bytes) {
    sent = owner_.send_now(std::array{net::Slice{header.data(), header.size()},
                                      net::Slice{payload.data(), payload.size()}});
  }
  const std::size_t of_header = std::min(sent, header.size());
  header.remove_prefix(of_header);
  payload.remove_prefix(sent - of_header);
  output().append(header);
  output().append(payload);
}

template <class User>
ProtocolState H1Socket<User>::state(bool) const noexcept {
  const bool is_over = user_.is_over();
  return {.waiting = user_.is_timed() ? Waiting::Peer : Waiting::Handler,
          .can_resume = user_.can_resume(),
          .has_work = !is_over,
          .wants_input = user_.wants_input(),
          .is_finished = is_over};
}

}  // namespace skua::server
