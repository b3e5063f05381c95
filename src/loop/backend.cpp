// SPDX-License-Identifier: MIT
// In: the kind of back end asked for. Out: that back end, or why this machine has none.
// A handle's owner overrides only what concerns it, so the rest does nothing.
#include "loop/backend.hpp"

#include "loop/backend_epoll.hpp"
#include "loop/backend_poll.hpp"
#include "loop/backend_uring.hpp"

namespace skua::loop {

void Handle::on_accept(int /*descriptor*/) {}
void Handle::on_accept_failed(Error /*error*/) {}
void Handle::on_connect(Error /*error*/) {}
void Handle::on_receive(std::span<char> /*bytes*/) {}
void Handle::on_receive_end(Error /*error*/) {}
void Handle::on_sent(std::size_t /*count*/) {}
void Handle::on_send_failed(Error /*error*/) {}
void Handle::on_closed() {}

Result<std::unique_ptr<Backend>> Backend::create(BackendKind kind) {
  switch (kind) {
    case BackendKind::Epoll: return make_epoll_backend();
    case BackendKind::IoUring: return make_uring_backend();
    case BackendKind::Poll: return make_poll_backend();
    case BackendKind::Auto: break;
  }
  auto epoll = make_epoll_backend();
  if (epoll || epoll.error().code() != Errc::Unsupported) return epoll;
  return make_poll_backend();
}

}  // namespace skua::loop
