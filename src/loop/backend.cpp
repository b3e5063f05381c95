// SPDX-License-Identifier: MIT
// In: the kind of back end asked for. Out: that back end, or why this machine does not have it.
// A handle's owner overrides only the callbacks that it needs; the others do nothing.
#include "loop/backend.hpp"

#include "loop/backends.hpp"

#include <algorithm>
#include <cerrno>

#include "loop/sockets.hpp"

namespace skua::loop {
namespace {

constexpr unsigned accepts_per_turn = 64;

/// Whether an error of accept concerns one connection only: accept(2), "Error handling".
constexpr bool concerns_one_connection(int error) noexcept {
  switch (error) {
    case ECONNABORTED:
    case EINTR:
    case EPERM:
    case EPROTO:
    case ENOPROTOOPT:
    case ENETDOWN:
    case ENETUNREACH:
#if defined(EHOSTDOWN)
    case EHOSTDOWN:
#endif
    case EHOSTUNREACH:
    case ETIMEDOUT: return true;
    default: return false;
  }
}

}  // namespace

void Handle::on_accept(int /*descriptor*/) {}
void Handle::on_accept_failed(Error /*error*/) {}
void Handle::on_connect(Error /*error*/) {}
void Handle::on_receive(std::span<char> /*bytes*/) {}
void Handle::on_receive_end(Error /*error*/) {}
void Handle::on_sent(std::size_t /*count*/) {}
void Handle::on_send_failed(Error /*error*/) {}
void Handle::on_readable() {}
void Handle::on_closed() {}

Result<std::unique_ptr<Backend>> Backend::create(BackendChoice kind) {
  switch (kind) {
    case BackendChoice::Epoll: return make_epoll_backend();
    case BackendChoice::IoUring: return make_uring_backend();
    case BackendChoice::Poll: return make_poll_backend();
    case BackendChoice::Kqueue: return make_kqueue_backend();
    case BackendChoice::CompletionPort: return make_port_backend();
    case BackendChoice::Auto: break;
  }
  for (const auto make : {make_epoll_backend, make_kqueue_backend, make_port_backend}) {
    auto made = make();
    if (made || made.error().code() != Errc::Unsupported) return made;
  }
  return make_poll_backend();
}

int Backend::to_milliseconds(Duration timeout) noexcept {
  if (timeout < Duration::zero()) return -1;
  return static_cast<int>(
      std::chrono::ceil<std::chrono::milliseconds>(std::min(timeout, longest_wait)).count());
}

void Backend::accept_waiting(Handle& handle) {
  if (handle.watched_) return handle.on_readable();
  for (unsigned i = 0; i < accepts_per_turn && handle.accepting_; ++i) {
    ++calls_.others;
    const int descriptor = bsd::accept_one(handle.descriptor_);
    if (descriptor >= 0) {
      handle.on_accept(descriptor);
      continue;
    }
    const int error = errno;
    if (error == EAGAIN || error == EWOULDBLOCK) return;
    if (concerns_one_connection(error)) continue;
    handle.accepting_ = false;
    handle.on_accept_failed(Error::from_system(error, "accept"));
    return;
  }
}

}  // namespace skua::loop
