// SPDX-License-Identifier: MIT
// The streams of programs. In: hosts, addresses, sockets. Out: connections on the current loop.
#include "skua/stream.hpp"

#include <utility>

#include "net/close_detached.hpp"
#include "net/problem.hpp"
#include "net/tcp_stream.hpp"
#include "skua/async.hpp"
#include "sockets/connect.hpp"
#include "sockets/race.hpp"
#include "sockets/stream_core.hpp"

namespace skua {

using sockets::StreamCore;

namespace {

Error invalid() noexcept { return {Errc::Closed, "the stream is not open"}; }

template <class T>
Task<Result<T>> fail_invalid() {
  co_return invalid();
}

void need_own_thread(const StreamCore& core) {
  core.loop().thread().need(
      "skua::Stream: it belongs to another thread: use it there, in a call of Loop::post()");
}

/// Calls an operation of a stream that may be invalid.
template <class T, class... Arguments, class... Given>
Task<Result<T>> on(const std::shared_ptr<StreamCore>& core,
                   Task<Result<T>> (*operation)(StreamCore::Self, Arguments...), Given&&... given) {
  if (core == nullptr) return fail_invalid<T>();
  need_own_thread(*core);
  return operation(core, std::forward<Given>(given)...);
}

Task<> nothing() { co_return; }

}  // namespace

Stream::Stream() noexcept = default;
Stream::Stream(std::shared_ptr<StreamCore> core) noexcept : core_(std::move(core)) {}
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&& other) noexcept {
  if (this == &other) return *this;
  close();
  core_ = std::move(other.core_);
  return *this;
}
Stream::~Stream() { close(); }

Task<Result<std::size_t>> Stream::receive(std::span<char> room, Duration patience) {
  return on(core_, StreamCore::receive, room, patience);
}

Task<Result<void>> Stream::receive_all(std::span<char> room, Duration patience) {
  return on(core_, StreamCore::receive_all, room, patience);
}

Task<Result<std::string>> Stream::receive_until(std::string end, std::size_t max_bytes,
                                                Duration patience) {
  return on(core_, StreamCore::receive_until, std::move(end), max_bytes, patience);
}

Task<Result<void>> Stream::send(std::string_view bytes, Duration patience) {
  return on(core_, StreamCore::send, bytes, patience);
}

void Stream::write(std::string_view bytes) {
  if (core_ == nullptr) return;
  need_own_thread(*core_);
  core_->write(bytes);
}

std::uint64_t Stream::unsent_bytes() const noexcept {
  return core_ != nullptr ? core_->unsent_bytes() : 0;
}

Task<Result<void>> Stream::shutdown_write() { return on(core_, StreamCore::shutdown_write); }

Task<> Stream::finish(Duration patience) {
  return core_ != nullptr ? StreamCore::finish(core_, patience) : nothing();
}

void Stream::close() noexcept {
  if (const auto core = std::exchange(core_, nullptr)) core->close();
}

void Stream::on_receive(std::function<void(std::string_view)> callback) {
  if (core_ != nullptr) core_->on_receive(std::move(callback));
}

void Stream::on_end(std::function<void(Error)> callback) {
  if (core_ != nullptr) core_->on_end(std::move(callback));
}

void Stream::on_sent(std::function<void(Error)> callback) {
  if (core_ != nullptr) core_->on_sent(std::move(callback));
}

Address Stream::local_address() const noexcept {
  return core_ != nullptr && core_->is_open() ? core_->stream().local() : Address();
}

Address Stream::peer_address() const noexcept {
  return core_ != nullptr && core_->is_open() ? core_->stream().peer() : Address();
}

TcpStream::TcpStream(std::shared_ptr<StreamCore> core) noexcept : Stream(std::move(core)) {}

TcpStream::TcpStream(StreamSocket socket) {
  loop::Loop& loop = loop::Loop::current();
  net::set_no_delay(socket.descriptor());
  *this = TcpStream(
      StreamCore::open(loop, std::make_unique<net::TcpStream>(loop.backend(), std::move(socket))));
}

Task<Result<TcpStream, Problem>> TcpStream::connect(std::string host, std::uint16_t port,
                                                    ConnectOptions options) {
  Result<net::HeldStream, Problem> connected =
      co_await sockets::connect(std::move(host), port, options);
  if (!connected) co_return std::move(connected).error();
  co_return TcpStream(StreamCore::open(loop::Loop::current(), *std::move(connected)));
}

Task<Result<TcpStream, Problem>> TcpStream::connect(Address address, Duration patience) {
  loop::Loop& loop = loop::Loop::current();
  const sockets::OpenStream open = sockets::open_socket;
  const net::TimeLimit limit{patience};
  std::vector<Address> addresses(1, address);
  Result<net::HeldStream, Problem> connected =
      co_await sockets::reach(loop, open, address.to_string(), std::move(addresses), limit);
  if (!connected) co_return std::move(connected).error();
  co_return TcpStream(StreamCore::open(loop, *std::move(connected)));
}

Task<Result<TcpStream::Released>> TcpStream::release() {
  const StreamCore::Self core = this->core();
  if (core == nullptr) co_return invalid();
  const Result<void> drained = co_await StreamCore::drain(core, loop::Instant::max());
  if (!drained) co_return drained.error();
  core->on_receive(nullptr);
  // The stream of a TcpStream is never encrypted.
  auto& stream = static_cast<net::TcpStream&>(core->stream());
  int descriptor = -1;
  while (descriptor < 0) {
    co_await yield();  // the first time as well: the back end may be calling the stream
    const Result<void> still_drained = co_await StreamCore::drain(core, loop::Instant::max());
    if (!still_drained) co_return still_drained.error();
    descriptor = stream.release();
  }
  Released released{.socket = StreamSocket(Socket(descriptor)),
                    .received = std::string(core->unread())};
  const std::unique_ptr<net::Stream> empty = core->give_up();
  co_return released;
}

}  // namespace skua
