// SPDX-License-Identifier: MIT
#include "server/websocket/h1_socket.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace skua::server {
namespace {

constexpr std::size_t direct_bytes = 16 * 1024;

}  // namespace

WsSession::WsSession(Resources& resources, net::OutputQueue& output, SessionOwner& owner,
                     const detail::Upgrade& upgrade)
    : output_(output), owner_(owner), call_(resources, static_cast<ws::Wire&>(*this), upgrade) {}

void WsSession::start(Request& request, const detail::Upgrade& upgrade) {
  call_.start(request, upgrade);
  if (call_.resources().is_draining) call_.drain();
}

void WsSession::receive(std::span<char> input) { call_.socket().receive(input); }

// Sends a long payload at once without copying it: a copy costs more than the system call that
// batching would save.
void WsSession::write_frame(std::string_view header, std::string_view payload) {
  std::size_t sent = 0;
  if (payload.size() >= direct_bytes) {
    sent = owner_.send_now(std::array{net::Slice{header.data(), header.size()},
                                      net::Slice{payload.data(), payload.size()}});
  }
  const std::size_t of_header = std::min(sent, header.size());
  header.remove_prefix(of_header);
  payload.remove_prefix(sent - of_header);
  output_.append(header);
  output_.append(payload);
}

Standing WsSession::standing(bool) const noexcept {
  return {.waiting = call_.deadline() ? Waiting::Peer : Waiting::Handler,
          .can_resume = call_.can_resume(),
          .has_work = !call_.is_over(),
          .wants_input = call_.socket().wants_input(),
          .is_finished = call_.is_over()};
}

loop::Instant WsSession::deadline() const noexcept {
  return call_.deadline().value_or(loop::Instant::max());
}

}  // namespace skua::server
