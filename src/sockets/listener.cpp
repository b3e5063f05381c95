// SPDX-License-Identifier: MIT
// In: a listening socket. Out: streams. It accepts while somebody wants a connection; io_uring and
// the like may bring a few more than that, which are kept for the next call.
#include <deque>
#include <new>
#include <stdexcept>
#include <utility>

#include "net/listener.hpp"
#include "net/socket.hpp"
#include "net/tcp_stream.hpp"
#include "skua/stream.hpp"
#include "skua/waiter.hpp"
#include "sockets/stream_core.hpp"

namespace skua {

struct Listener::Impl final : net::ListenerSink {
  Impl(loop::Loop& its, Socket socket) : loop(its), listener(its, std::move(socket), *this) {}

  void on_accept(Socket connection) override {
    try {
      take(std::move(connection));
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the connection is closed
    }
  }
  void take(Socket connection) {
    if (const auto call = callback) {
      TcpStream stream = open(std::move(connection));
      return loop.call_user([&] { (*call)(std::move(stream)); });
    }
    waiting.push_back(std::move(connection));
    listener.pause();
    arrived.wake_all();
  }
  void on_listener_closed() override { self.reset(); }
  static TcpStream open(Socket connection) {
    return TcpStream(StreamSocket(std::move(connection)));
  }

  void close() {
    is_closed = true;
    callback.reset();
    waiting.clear();
    listener.close();
    arrived.wake_all();
  }

  loop::Loop& loop;
  net::Listener listener;
  std::shared_ptr<Impl> self{};  // until closed
  std::deque<Socket> waiting{};
  detail::WaiterList arrived{};
  std::shared_ptr<const std::function<void(TcpStream)>> callback{};  // shared with its running call
  bool is_closed = false;
};

Result<Listener, Problem> Listener::listen(const Address& address, const ListenOptions& options) {
  if (address.family() == Address::Family::Unix) {
    Result<UnixSocket, Problem> socket = UnixSocket::listen_on(address, options.backlog);
    if (!socket) return std::move(socket).error();
    return Listener(*std::move(socket));
  }
  Result<TcpSocket, Problem> socket = TcpSocket::listen_on(address, options);
  if (!socket) return std::move(socket).error();
  return Listener(*std::move(socket));
}

Listener::Listener(StreamSocket socket) {
  // Checks that it listens.
  Result<Socket, Problem> shared =
      net::share({.socket = std::make_shared<const Socket>(std::move(socket))});
  if (!shared) throw std::invalid_argument("Listener: " + shared.error().text);
  impl_ = std::make_shared<Impl>(loop::Loop::current(), *std::move(shared));
  impl_->self = impl_;
}

Listener::Listener(Listener&&) noexcept = default;
Listener& Listener::operator=(Listener&& other) noexcept {
  if (impl_ && this != &other) impl_->close();
  impl_ = std::move(other.impl_);
  return *this;
}
Listener::~Listener() {
  if (impl_) impl_->close();
}

Task<Result<TcpStream>> Listener::accept() {
  const std::shared_ptr<Impl> impl = impl_;
  while (impl->waiting.empty()) {
    if (impl->is_closed) co_return Error(Errc::Closed, "accept");
    impl->listener.resume();
    co_await impl->arrived.wait();
  }
  Socket connection = std::move(impl->waiting.front());
  impl->waiting.pop_front();
  co_return Impl::open(std::move(connection));
}

void Listener::on_accept(std::function<void(TcpStream)> callback) {
  using Function = std::function<void(TcpStream)>;
  impl_->callback = !callback ? nullptr : std::make_shared<const Function>(std::move(callback));
  if (impl_->callback == nullptr) return impl_->listener.pause();
  while (!impl_->waiting.empty()) {
    Socket connection = std::move(impl_->waiting.front());
    impl_->waiting.pop_front();
    impl_->take(std::move(connection));
  }
  impl_->listener.resume();
}

Address Listener::address() const noexcept { return impl_->listener.address(); }

}  // namespace skua
