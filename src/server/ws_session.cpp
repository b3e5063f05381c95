// SPDX-License-Identifier: MIT
#include "server/ws_session.hpp"

#include <utility>

namespace skua::server {

WsSession::WsSession(Resources& resources, net::OutputQueue& output, SessionOwner& owner,
                     std::shared_ptr<const detail::Upgrade> upgrade)
    : resources_(resources),
      output_(output),
      owner_(owner),
      call_(resources, static_cast<ws::Wire&>(*this), std::move(upgrade)) {}

void WsSession::start(Request& request) {
  call_.start(request);
  if (resources_.is_draining) call_.drain();
}

void WsSession::receive(std::span<char> input) { call_.socket().receive(input); }

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
