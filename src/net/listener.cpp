// SPDX-License-Identifier: MIT
// In: a listening socket. Out: its connections, one by one.
// Without free descriptors, a level-triggered listener would spin: the connection that cannot be
// accepted stays ready. So accepting stops, a timer retries, and the first connection in the
// queue is shed with a reserved descriptor: a peer is better off refused at once than hanging.
#include "net/listener.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "net/problem.hpp"
#include "net/socket.hpp"

namespace skua::net {
namespace {

constexpr Duration first_retry_delay = 100ms;
constexpr Duration longest_retry_delay = 1s;
// Long enough for an accept that was in flight when it was cancelled to be reported.
constexpr Duration drain_delay = 5ms;
constexpr int max_drained = 4096;

Socket open_reserve() noexcept { return Socket(bsd::open_reserve()); }

}  // namespace

Listener::Listener(loop::Loop& loop, Socket socket, ListenerSink& sink)
    : loop_(loop),
      sink_(sink),
      reserve_(open_reserve()),
      retry_timer_(loop.timers(), loop::call_member<&Listener::retry>, this),
      retry_delay_(first_retry_delay) {
  loop_.backend().open(*this, socket.release());
}

Listener::~Listener() { SKUA_ASSERT(descriptor() < 0); }

void Listener::resume() {
  if (is_accepting_ || !is_open()) return;
  retry_timer_.stop();
  is_accepting_ = true;
  loop_.backend().start_accept(*this);
}

void Listener::pause() {
  retry_timer_.stop();
  if (!std::exchange(is_accepting_, false)) return;
  loop_.backend().stop_accept(*this);
}

void Listener::close() {
  pause();
  loop_.backend().close(*this);
}

void Listener::drain() {
  pause();
  is_draining_ = true;
  retry_timer_.start(drain_delay);
}

Address Listener::address() const noexcept { return local_address(descriptor()); }

void Listener::on_accept(int descriptor) {
  retry_delay_ = first_retry_delay;
  sink_.on_accept(Socket(descriptor));
}

void Listener::on_accept_failed(Error error) {
  is_accepting_ = false;
  if (is_draining_) return;
  if (error.code() == Errc::TooManyOpenFiles) shed_one();
  retry_timer_.start(retry_delay_);
  retry_delay_ = std::min(retry_delay_ * 2, longest_retry_delay);
  sink_.on_accept_paused(error);
}

void Listener::on_closed() {
  retry_timer_.stop();
  sink_.on_listener_closed();
}

void Listener::shed_one() noexcept {
  if (reserve_) {
    reserve_.close();
    const Socket shed(bsd::accept(descriptor(), nullptr, nullptr));
  }
  reserve_ = open_reserve();  // may fail now; retry() tries again
}

void Listener::empty_queue(int descriptor) {
  for (int i = 0; i < max_drained; ++i) {
    Socket connection(bsd::accept_one(descriptor));
    if (!connection) break;
    sink_.on_accept(std::move(connection));
  }
}

// Closing the socket resets the connections in its queue, so the queue is emptied right before. A
// back end may close it a whole turn later, and a turn full of TLS handshakes is long.
void Listener::finish_drain() {
  const int own = loop_.backend().release(*this);
  if (own < 0) {
    empty_queue(descriptor());
    return close();
  }
  Socket socket(own);
  empty_queue(own);
  socket.close();
  sink_.on_listener_closed();
}

void Listener::retry() {
  if (is_draining_) return finish_drain();
  if (!reserve_) reserve_ = open_reserve();
  resume();
}

Result<Address> listen_address(std::string_view host, std::uint16_t port) noexcept {
  if (host.starts_with("unix:")) return Address::parse(host);
  return Address::parse(host == "localhost" ? "127.0.0.1" : host, port);
}

Result<std::vector<Socket>> create_listeners(const Address& address, std::size_t count,
                                             bool is_shared) {
  Address bound = address;
  std::vector<Socket> listeners;
  if (!is_shared) {
    // With SO_REUSEPORT, another process of the same user may silently share the port. So the first
    // socket is bound without that option: a port in use must be an error.
    Result<Socket> first = create_listener(address);
    if (!first) return first.error();
    bound = first->local_address();
    if constexpr (shares_ports_late) {
      if (const auto set = first->set_reuse_port(true); !set) return set.error();
      listeners.push_back(*std::move(first));
    }
  }
  while (listeners.size() < count) {
    Result<Socket> listener = create_listener(bound, {.reuse_port = true});
    if (!listener) return listener.error();
    bound = listener->local_address();
    listeners.push_back(*std::move(listener));
  }
  return listeners;
}

Result<Socket, Problem> share(const ListeningSocket& listener) {
  const int descriptor = listener.socket != nullptr ? listener.socket->descriptor() : -1;
  const auto unusable = [&](const char* why, Error error) {
    std::string text("the socket ");
    if (!listener.name.empty()) text.append("\"").append(listener.name).append("\" ");
    return Problem{error, text.append(why)};
  };
  const Result<int> type = get_option(descriptor, SOL_SOCKET, SO_TYPE);
  if (!type) return unusable("is not open", type.error());
  if (*type != SOCK_STREAM) {
    return unusable("carries datagrams, not connections", Error(Errc::Unsupported, "listen"));
  }
#if defined(SO_ACCEPTCONN)
  const Result<int> is_listening = get_option(descriptor, SOL_SOCKET, SO_ACCEPTCONN);
  if (is_listening && *is_listening == 0) {
    return unusable("does not listen: call listen() on it first",
                    Error(Errc::InvalidAddress, "listen"));
  }
#endif
  const Address address = local_address(descriptor);
  if (address.family() == Address::Family::None) {
    return unusable("is neither TCP nor a Unix socket", Error(Errc::Unsupported, "listen"));
  }
  const int duplicate = bsd::duplicate(descriptor);
  if (duplicate < 0) return unusable("cannot be duplicated", failure(errno, "dup"));
  if (address.is_ip()) keep_alive(duplicate);
  return Socket(duplicate);
}

}  // namespace skua::net
