// SPDX-License-Identifier: MIT
// In: calls that may wait. Out: attempts that never do, with poll(2) in between. A deadline is
// fixed once, so neither signals nor slow peers prolong a wait.
#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "base/disk.hpp"
#include "net/socket.hpp"

#include "net/problem.hpp"

namespace skua {
namespace {

// The connection goes on after a signal.
Error start_connect(int descriptor, const Address& address) noexcept {
  if (bsd::connect(descriptor, address.data(), address.size_bytes()) == 0) return Errc::None;
  const bool goes_on = errno == EINPROGRESS || errno == EINTR;
  return net::failure(goes_on ? EAGAIN : errno, "connect");
}

// If the backlog of a Unix listener is full, connect() has to be repeated, and poll(2) does not say
// when. A call that blocks waits for room; SO_SNDTIMEO bounds it.
Error connect_blocking(int descriptor, const Address& address, net::Deadline deadline) noexcept {
  if (bsd::set_blocking(descriptor, true) != 0) return net::failure(errno, "connect");
  int error = 0;
  do {
    std::chrono::microseconds left{};  // zero: no limit
    if (deadline != net::Deadline::max()) {
      left = std::chrono::ceil<std::chrono::microseconds>(
          deadline - net::Deadline(std::chrono::steady_clock::now()));
      left = std::max(left, std::chrono::microseconds(1));
    }
    static_cast<void>(bsd::set_send_timeout(descriptor, left));
    error = bsd::connect(descriptor, address.data(), address.size_bytes()) == 0 ? 0 : errno;
  } while (error == EINTR);
  static_cast<void>(bsd::set_send_timeout(descriptor, {}));
  static_cast<void>(bsd::set_blocking(descriptor, false));
  return error == EAGAIN ? Error(Errc::TimedOut, "connect") : net::failure(error, "connect");
}

Error finish_connect(StreamSocket& socket, const Address& address, Duration patience) noexcept {
  const net::Deadline deadline = net::deadline_after(patience);
  if (address.family() == Address::Family::Unix) {
    return connect_blocking(socket.descriptor(), address, deadline);
  }
  const auto ready = net::wait_until(socket.descriptor(), POLLOUT, deadline);
  return ready ? socket.take_error() : ready.error();
}

}  // namespace

Result<void, Problem> StreamSocket::connect(const Address& address, Duration patience) {
  Error error = start_connect(descriptor(), address);
  if (error.code() == Errc::WouldBlock) error = finish_connect(*this, address, patience);
  if (error.code() == Errc::None) return {};
  return net::could_not("connect to", address, error);
}

Result<void, Problem> StreamSocket::try_connect(const Address& address) {
  const Error error = start_connect(descriptor(), address);
  if (error.code() == Errc::None) return {};
  return net::could_not("connect to", address, error);
}

Result<void, Problem> StreamSocket::listen(int backlog) {
  if (bsd::listen(descriptor(), backlog) == 0) return {};
  const Error error = net::failure(errno, "listen");
  const Address address = local_address();
  Problem problem = net::could_not("listen on", address, error);
  const bool is_unbound = address.family() == Address::Family::Unix && address.path().empty() &&
                          address.abstract_name().empty();
  if (is_unbound) problem.text.append("; bind() it first");
  return problem;
}

Result<std::size_t> StreamSocket::try_send(std::string_view bytes) noexcept {
  if (bytes.empty()) return std::size_t{0};
  const ssize_t count = bsd::send(descriptor(), bytes.data(), bytes.size(), net::no_signal);
  if (count < 0) return net::failure(errno, "send");
  return static_cast<std::size_t>(count);
}

Result<std::size_t> StreamSocket::send(std::string_view bytes, Duration patience) noexcept {
  return net::repeat(descriptor(), POLLOUT, net::deadline_after(patience),
                     [&] { return try_send(bytes); });
}

Result<void> StreamSocket::send_all(std::string_view bytes, Duration patience) noexcept {
  const net::Deadline deadline = net::deadline_after(patience);
  while (!bytes.empty()) {
    const auto sent = net::repeat(descriptor(), POLLOUT, deadline, [&] { return try_send(bytes); });
    if (!sent) return sent.error();
    bytes.remove_prefix(*sent);
  }
  return {};
}

Result<std::size_t> StreamSocket::try_receive(std::span<char> room) noexcept {
  if (room.empty()) return std::size_t{0};
  const ssize_t count = bsd::recv(descriptor(), room.data(), room.size(), 0);
  if (count < 0) return net::failure(errno, "receive");
  if (count == 0) return Error(Errc::Closed, "receive");
  return static_cast<std::size_t>(count);
}

Result<std::size_t> StreamSocket::receive(std::span<char> room, Duration patience) noexcept {
  return net::repeat(descriptor(), POLLIN, net::deadline_after(patience),
                     [&] { return try_receive(room); });
}

Result<void> StreamSocket::receive_all(std::span<char> room, Duration patience) noexcept {
  const net::Deadline deadline = net::deadline_after(patience);
  while (!room.empty()) {
    const auto count =
        net::repeat(descriptor(), POLLIN, deadline, [&] { return try_receive(room); });
    if (!count) return count.error();
    room = room.subspan(*count);
  }
  return {};
}

Result<void> StreamSocket::shutdown_write() noexcept {
  if (bsd::shutdown(descriptor(), SHUT_WR) == 0) return {};
  return net::failure(errno, "shutdown");
}

Result<void> StreamSocket::shutdown_read() noexcept {
  if (bsd::shutdown(descriptor(), SHUT_RD) == 0) return {};
  return net::failure(errno, "shutdown");
}

Result<void> StreamSocket::set_linger(std::optional<std::chrono::seconds> time) noexcept {
  const std::chrono::seconds::rep longest = 65535;  // some systems keep 16 bits
  ::linger value{};
  value.l_onoff = time ? 1 : 0;
  if (time) {
    const auto seconds = std::clamp<std::int64_t>(time->count(), 0, longest);
    value.l_linger = static_cast<decltype(value.l_linger)>(seconds);
  }
  return net::set_option(descriptor(), SOL_SOCKET, SO_LINGER, &value, sizeof value);
}

Result<std::optional<std::chrono::seconds>> StreamSocket::linger() const noexcept {
  ::linger value{};
  socklen_t size_bytes = sizeof value;
  if (bsd::getsockopt(descriptor(), SOL_SOCKET, SO_LINGER, &value, &size_bytes) != 0) {
    return net::failure(errno, "getsockopt");
  }
  std::optional<std::chrono::seconds> time;
  if (value.l_onoff != 0) time.emplace(value.l_linger);
  return time;
}

Result<Socket> StreamSocket::try_accept_socket() noexcept {
  int accepted = -1;
  do {
    accepted = bsd::accept_one(descriptor());
  } while (accepted < 0 && (errno == EINTR || errno == ECONNABORTED));  // that peer has gone
  if (accepted < 0) return net::failure(errno, "accept");
  return Socket(accepted);
}

Result<Socket> StreamSocket::accept_socket(Duration patience) noexcept {
  return net::repeat(descriptor(), POLLIN, net::deadline_after(patience),
                     [&] { return try_accept_socket(); });
}

namespace {

template <class T>
Result<T> as(Result<Socket>&& socket) noexcept {
  if (!socket) return socket.error();
  return T(*std::move(socket));
}

template <class T>
Result<T, Problem> open_as(Address::Family family, std::string_view kind) {
  Result<Socket> socket = net::create_socket(family);
  if (!socket) return net::could_not("create", kind, socket.error());
  return T(*std::move(socket));
}

template <class T>
Result<T, Problem> listen_as(const Address& address, const ListenOptions& options) {
  Result<Socket> socket = net::create_listener(address, options);
  if (!socket) return net::could_not_listen(address, socket.error());
  return T(*std::move(socket));
}

}  // namespace

Result<TcpSocket, Problem> TcpSocket::open(Address::Family family) {
  return open_as<TcpSocket>(family, "a TCP socket");
}

Result<TcpSocket, Problem> TcpSocket::listen_on(const Address& address,
                                                const ListenOptions& options) {
  return listen_as<TcpSocket>(address, options);
}

Result<TcpSocket, Problem> TcpSocket::connect_to(const Address& address, Duration patience) {
  Result<TcpSocket, Problem> socket = open(address.family());
  if (!socket) return socket;
  static_cast<void>(socket->set_no_delay(true));
  if (auto connected = socket->connect(address, patience); !connected) return connected.error();
  return socket;
}

Result<TcpSocket, Problem> TcpSocket::connect_to(std::string_view host, std::uint16_t port,
                                                 Duration patience) {
  const auto addresses = resolve(host, port);
  if (!addresses) return addresses.error();
  const net::Deadline deadline = net::deadline_after(patience);
  Result<TcpSocket, Problem> socket = Problem::from(Error(Errc::NameNotResolved));
  for (std::size_t i = 0; i < addresses->size(); ++i) {
    Duration left = Duration::max();
    if (deadline != net::Deadline::max()) {
      // The addresses share the time, so that a silent one leaves some for the others.
      const auto all = deadline - net::Deadline(std::chrono::steady_clock::now());
      left = std::max<Duration>(all, Duration::zero()) / (addresses->size() - i);
    }
    socket = connect_to((*addresses)[i], left);
    if (socket) break;
  }
  return socket;
}

Result<TcpSocket> TcpSocket::accept(Duration patience) noexcept {
  return as<TcpSocket>(accept_socket(patience));
}

Result<TcpSocket> TcpSocket::try_accept() noexcept { return as<TcpSocket>(try_accept_socket()); }

Result<void> TcpSocket::set_no_delay(bool on) noexcept {
  return net::set_option(descriptor(), IPPROTO_TCP, TCP_NODELAY, on ? 1 : 0);
}

Result<bool> TcpSocket::no_delay() const noexcept {
  return net::option_as<bool>(net::get_option(descriptor(), IPPROTO_TCP, TCP_NODELAY));
}

namespace {

struct KeepAliveOption {
  int name;
  std::int64_t value;
};

}  // namespace

Result<void> TcpSocket::set_keep_alive(const std::optional<KeepAlive>& options) noexcept {
  auto set = net::set_option(descriptor(), SOL_SOCKET, SO_KEEPALIVE, options ? 1 : 0);
  if (!set || !options) return set;
  if (!net::has_keep_alive_times) return Error(Errc::Unsupported, "keep-alive times");
  for (const auto& [name, value] :
       {KeepAliveOption{net::keep_alive_idle, options->idle.count()},
        KeepAliveOption{net::keep_alive_interval, options->interval.count()},
        KeepAliveOption{net::keep_alive_probes, options->probes}}) {
    const auto clamped = static_cast<int>(std::clamp<std::int64_t>(value, 1, 32767));  // tcp(7)
    set = net::set_option(descriptor(), IPPROTO_TCP, name, clamped);
    if (!set) break;
  }
  return set;
}

Result<std::optional<KeepAlive>> TcpSocket::keep_alive() const noexcept {
  const auto is_on = net::get_option(descriptor(), SOL_SOCKET, SO_KEEPALIVE);
  if (!is_on) return is_on.error();
  std::optional<KeepAlive> options;
  if (*is_on == 0) return options;
  if (!net::has_keep_alive_times) return Error(Errc::Unsupported, "keep-alive times");
  const auto idle = net::get_option(descriptor(), IPPROTO_TCP, net::keep_alive_idle);
  const auto interval = net::get_option(descriptor(), IPPROTO_TCP, net::keep_alive_interval);
  const auto probes = net::get_option(descriptor(), IPPROTO_TCP, net::keep_alive_probes);
  if (!idle) return idle.error();
  if (!interval) return interval.error();
  if (!probes) return probes.error();
  options.emplace(KeepAlive{.idle = std::chrono::seconds(*idle),
                            .interval = std::chrono::seconds(*interval),
                            .probes = *probes});
  return options;
}

Result<UnixSocket, Problem> UnixSocket::open() {
  return open_as<UnixSocket>(Address::Family::Unix, "a Unix socket");
}

namespace {

// Whether the path is a socket that refuses connections: nobody listens there any more.
bool is_stale(const Address& address) {
  if (!bsd::is_socket_file(std::string(address.path()))) return false;
  const Result<Socket> probe = net::create_socket(Address::Family::Unix);
  return probe && start_connect(probe->descriptor(), address).code() == Errc::Refused;
}

}  // namespace

Result<UnixSocket, Problem> UnixSocket::listen_on(const Address& address, int backlog) {
  auto listener = listen_as<UnixSocket>(address, {.backlog = backlog});
  if (listener || listener.error().code() != Errc::AddressInUse || !is_stale(address)) {
    return listener;
  }
  static_cast<void>(disk::unlink(std::string(address.path()).c_str()));
  return listen_as<UnixSocket>(address, {.backlog = backlog});
}

Result<UnixSocket, Problem> UnixSocket::connect_to(const Address& address, Duration patience) {
  Result<UnixSocket, Problem> socket = open();
  if (!socket) return socket;
  if (auto connected = socket->connect(address, patience); !connected) return connected.error();
  return socket;
}

Result<std::pair<UnixSocket, UnixSocket>, Problem> UnixSocket::pair() {
  std::array<int, 2> ends{};
  if (bsd::pair(ends) != 0) {
    return net::could_not("create", "a pair of Unix sockets", net::failure(errno, "socketpair"));
  }
  return std::pair{UnixSocket(Socket(ends[0])), UnixSocket(Socket(ends[1]))};
}

Result<UnixSocket> UnixSocket::accept(Duration patience) noexcept {
  return as<UnixSocket>(accept_socket(patience));
}

Result<UnixSocket> UnixSocket::try_accept() noexcept { return as<UnixSocket>(try_accept_socket()); }

}  // namespace skua
