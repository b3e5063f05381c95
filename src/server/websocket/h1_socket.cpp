// SPDX-License-Identifier: MIT
#include "server/websocket/h1_socket.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace skua::server {
namespace {

constexpr std::size_t direct_bytes = 16 * 1024;

}  // namespace

H1Socket::H1Socket(H1Protocol& owner, const Takeovers& users, const detail::Upgrade& upgrade)
    : owner_(owner),
      run_(users.take_over(owner.resources(), static_cast<ws::Wire&>(*this), upgrade)) {}

void H1Socket::start(Request& request, const detail::Upgrade& upgrade) {
  run_->start(request, upgrade);
  if (owner_.resources().is_draining) run_->drain();
}

void H1Socket::receive(std::span<char> input) { run_->receive(input); }

// Sends a long payload at once without copying it: a copy costs more than the system call that
// batching would save.
void H1Socket::write_frame(std::string_view header, std::string_view payload) {
  std::size_t sent = 0;
  if (payload.size() >= direct_bytes) {
    sent = owner_.send_now(std::array{net::Slice{header.data(), header.size()},
                                      net::Slice{payload.data(), payload.size()}});
  }
  const std::size_t of_header = std::min(sent, header.size());
  header.remove_prefix(of_header);
  payload.remove_prefix(sent - of_header);
  output().append(header);
  output().append(payload);
}

ProtocolState H1Socket::state(bool) const noexcept {
  return {.waiting = run_->deadline() ? Waiting::Peer : Waiting::Handler,
          .can_resume = run_->can_resume(),
          .has_work = !run_->is_over(),
          .wants_input = run_->wants_input(),
          .is_finished = run_->is_over()};
}

loop::Instant H1Socket::deadline() const noexcept {
  return run_->deadline().value_or(loop::Instant::max());
}

}  // namespace skua::server
