// SPDX-License-Identifier: MIT
// In: a UDP socket. Out: its datagrams. Each operation is tried first, and waits only if it has to.
#include "skua/udp_stream.hpp"

#include <utility>
#include <vector>

#include "loop/clock.hpp"
#include "loop/watch.hpp"
#include "net/problem.hpp"

namespace skua {
namespace {

constexpr std::size_t max_datagram_bytes = 65'536;
// Then other descriptors get their turn.
constexpr int datagrams_per_turn = 64;

}  // namespace

struct UdpStream::Impl : std::enable_shared_from_this<Impl> {
  explicit Impl(UdpSocket given)
      : watch(loop::Watch::open(loop::Loop::current(), given.descriptor())),
        socket(std::move(given)) {}

  [[nodiscard]] loop::Instant now() noexcept { return watch->loop().now(); }
  void close() noexcept {
    callback.reset();
    static_cast<void>(socket.release());  // the watch closes it
    watch->close();
  }
  void deliver();

  const std::shared_ptr<loop::Watch> watch;  // shared with its waits and the back end
  UdpSocket socket;
  std::shared_ptr<const Callback> callback{};  // shared with its running call
  std::vector<char> room{};                    // of the callback
};

Result<UdpStream, Problem> UdpStream::bind(const Address& address) {
  Result<UdpSocket, Problem> socket = UdpSocket::open(address.family());
  if (!socket) return net::could_not("bind to", address, socket.error().error);
  if (auto bound = socket->bind(address); !bound) return std::move(bound).error();
  return UdpStream(*std::move(socket));
}

Result<UdpStream, Problem> UdpStream::connect(const Address& peer) {
  Result<UdpSocket, Problem> socket = UdpSocket::open(peer.family());
  if (!socket) return net::could_not("connect to", peer, socket.error().error);
  if (auto connected = socket->connect(peer); !connected) return std::move(connected).error();
  return UdpStream(*std::move(socket));
}

UdpStream::UdpStream(UdpSocket socket) : impl_(std::make_shared<Impl>(std::move(socket))) {}
UdpStream::UdpStream(UdpStream&&) noexcept = default;
UdpStream& UdpStream::operator=(UdpStream&& other) noexcept {
  if (impl_ && this != &other) impl_->close();
  impl_ = std::move(other.impl_);
  return *this;
}
UdpStream::~UdpStream() {
  if (impl_) impl_->close();
}

UdpSocket& UdpStream::socket() noexcept { return impl_->socket; }

Task<Result<Datagram>> UdpStream::receive(std::span<char> room, Duration patience) {
  const std::shared_ptr<Impl> impl = impl_;
  const loop::Instant deadline = later(impl->now(), patience);
  while (true) {
    Result<Datagram> received = impl->socket.try_receive(room);
    if (received || received.error().code() != Errc::WouldBlock) co_return received;
    const Result<void> ready = co_await loop::Watch::readable(impl->watch, deadline - impl->now());
    if (!ready) co_return ready.error();
  }
}

namespace {

/// Tries to send until the socket takes the datagram.
template <class Attempt>
Task<Result<void>> send_when_writable(std::shared_ptr<loop::Watch> watch, Attempt attempt,
                                      Duration patience) {
  const loop::Instant deadline = later(watch->loop().now(), patience);
  while (true) {
    const Result<void> sent = attempt();
    if (sent || sent.error().code() != Errc::WouldBlock) co_return sent;
    const Result<void> ready =
        co_await loop::Watch::writable(watch, deadline - watch->loop().now());
    if (!ready) co_return ready;
  }
}

}  // namespace

Task<Result<void>> UdpStream::send(std::string_view bytes, Duration patience) {
  const auto attempt = [impl = impl_, bytes] { return impl->socket.try_send(bytes); };
  return send_when_writable(impl_->watch, attempt, patience);
}

Task<Result<void>> UdpStream::send_to(Address address, std::string_view bytes, Duration patience) {
  const auto attempt = [impl = impl_, address, bytes] {
    return impl->socket.try_send_to(address, bytes);
  };
  return send_when_writable(impl_->watch, attempt, patience);
}

void UdpStream::on_receive(Callback callback) {
  Impl& impl = *impl_;
  if (!callback) {
    impl.callback.reset();
    return impl.watch->on_readable(nullptr);
  }
  impl.callback = std::make_shared<const Callback>(std::move(callback));
  impl.room.resize(max_datagram_bytes);
  impl.watch->on_readable([weak = impl.weak_from_this()] {
    if (const auto self = weak.lock()) self->deliver();
  });
}

void UdpStream::Impl::deliver() {
  for (int i = 0; i < datagrams_per_turn; ++i) {
    const auto call = callback;
    if (call == nullptr) return;
    const Result<Datagram> received = socket.try_receive(room);
    if (!received && received.error().code() == Errc::WouldBlock) return;
    const std::size_t count = received ? received->size_bytes : 0;
    watch->loop().call_user([&] { (*call)(received, {room.data(), count}); });
  }
}

}  // namespace skua
