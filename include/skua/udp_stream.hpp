// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "skua/address.hpp"
#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/socket.hpp"
#include "skua/task.hpp"

namespace skua {

/// A UDP socket on a loop. Options and multicast groups are set through socket().
///
/// ```cpp
/// skua::Task<> echo(skua::UdpStream& socket) {
///   std::array<char, 65536> room;
///   while (auto datagram = co_await socket.receive(room)) {
///     const std::string_view bytes(room.data(), datagram->size_bytes);
///     co_await socket.send_to(datagram->from, bytes);
///   }
/// }
/// ```
class SKUA_API UdpStream final {
 public:
  /// Opens a socket at an address; port 0 lets the system choose one.
  ///
  /// Ends with: AddressInUse, AddressUnavailable, PermissionDenied, ...
  static Result<UdpStream, Problem> bind(const Address& address);
  /// Opens a socket whose datagrams go to and come from one peer only. Nothing is sent.
  static Result<UdpStream, Problem> connect(const Address& peer);
  /// Takes over a socket.
  ///
  /// Ends with: std::logic_error on a thread without a loop.
  explicit UdpStream(UdpSocket socket);
  UdpStream(UdpStream&&) noexcept;
  UdpStream& operator=(UdpStream&&) noexcept;
  ~UdpStream();

  /// The socket, for its options and addresses, and for its try_ operations.
  [[nodiscard]] UdpSocket& socket() noexcept SKUA_LIFETIMEBOUND;

  /// Receives one datagram.
  ///
  /// Waits for: a datagram, at most `patience`.
  /// Ends with: TimedOut; Refused if an earlier one of a connected socket reached no socket;
  ///            Closed if the stream is destroyed.
  /// Lifetime:  `room` outlives the task.
  Task<Result<Datagram>> receive(std::span<char> room, Duration patience = Duration::max());
  /// Sends one datagram, whole or not at all.
  ///
  /// Waits for: room in the system's buffer, at most `patience`.
  /// Ends with: like UdpSocket::send().
  /// Lifetime:  `bytes` outlives the task.
  Task<Result<void>> send(std::string_view bytes, Duration patience = Duration::max());
  Task<Result<void>> send_to(Address address, std::string_view bytes,
                             Duration patience = Duration::max());

  using Callback = std::function<void(const Result<Datagram>& datagram, std::string_view bytes)>;
  /// Calls `callback` with each datagram, instead of receive(), and with errors such as Refused,
  /// which come with no bytes; an empty function stops that. The bytes are valid during the call
  /// only.
  void on_receive(Callback callback);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with tasks that wait
};

}  // namespace skua
