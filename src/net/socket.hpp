// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <string_view>

#include "loop/clock.hpp"
#include "loop/sockets.hpp"
#include "skua/address.hpp"
#include "skua/error.hpp"
#include "skua/inherited_sockets.hpp"
#include "skua/socket.hpp"

namespace skua::net {

/// Creates a stream socket of the address family.
Result<Socket> create_socket(Address::Family family) noexcept;
/// Creates a socket of the address family and type (SOCK_STREAM, SOCK_DGRAM).
Result<Socket> create_socket(Address::Family family, int type) noexcept;

/// Whether the system spreads connections over listeners that share a port. Elsewhere, as on macOS,
/// one of them gets all.
#if defined(__linux__) || defined(__DragonFly__) || defined(SO_REUSEPORT_LB)
inline constexpr bool balances_listeners = true;
#else
inline constexpr bool balances_listeners = false;
#endif

/// Whether a socket that listens already may still be told to share its port.
#if defined(__linux__)
inline constexpr bool shares_ports_late = true;
#else
inline constexpr bool shares_ports_late = false;
#endif

/// Creates a socket that is bound to the address and listens.
/// Ends with: AddressInUse, AddressUnavailable, PermissionDenied, InvalidAddress, ...
Result<Socket> create_listener(const Address& address, const ListenOptions& options = {}) noexcept;

/// The options of TCP's probes; some systems lack them.
#if defined(TCP_KEEPINTVL) && defined(TCP_KEEPCNT)
inline constexpr bool has_keep_alive_times = true;
#if defined(TCP_KEEPIDLE)
inline constexpr int keep_alive_idle = TCP_KEEPIDLE;
#else
inline constexpr int keep_alive_idle = TCP_KEEPALIVE;  // macOS
#endif
inline constexpr int keep_alive_interval = TCP_KEEPINTVL;
inline constexpr int keep_alive_probes = TCP_KEEPCNT;
#else
inline constexpr bool has_keep_alive_times = false;
inline constexpr int keep_alive_idle = 0;
inline constexpr int keep_alive_interval = 0;
inline constexpr int keep_alive_probes = 0;
#endif

/// Returns a duplicate of a socket that was opened elsewhere, to accept connections on it.
/// Ends with: the system's error; InvalidAddress if it does not listen, Unsupported if it is not a
///            stream socket; always with a text that names the socket.
Result<Socket, Problem> share(const ListeningSocket& listener);

/// The beginning of the name of a Unix socket that is handed over together with its path; a `-` and
/// its own name follow, if it has one.
inline constexpr std::string_view own_socket_name = "skua-own";

/// Makes the system probe silent peers now and then (SO_KEEPALIVE). Accepted connections inherit
/// this from their listener.
void keep_alive(int descriptor) noexcept;

/// Sends small writes at once (TCP_NODELAY). Has no effect on sockets other than TCP.
void set_no_delay(int descriptor) noexcept;

/// Return the local and the remote address, or Family::None if unknown.
[[nodiscard]] Address local_address(int descriptor) noexcept;
[[nodiscard]] Address peer_address(int descriptor) noexcept;

// For the operations of public sockets.

/// Sets an option; returns the system's error.
Result<void> set_option(int descriptor, int level, int name, const void* value,
                        socklen_t size_bytes) noexcept;
Result<void> set_option(int descriptor, int level, int name, int value) noexcept;
Result<int> get_option(int descriptor, int level, int name) noexcept;
/// An option that has one name for IPv4 and another one for IPv6.
struct IpOption {
  int ipv4 = 0;
  int ipv6 = 0;
};
Result<void> set_option(int descriptor, IpOption option, int value) noexcept;
Result<int> get_option(int descriptor, IpOption option) noexcept;
/// Converts the value of an option.
template <class T>
Result<T> option_as(Result<int> value) noexcept {
  if (!value) return value.error();
  return static_cast<T>(*value);
}

/// Returns the error of a failed operation: WouldBlock, Closed for an invalid descriptor, ...
[[nodiscard]] Error failure(int system_code, const char* operation) noexcept;

using bsd::no_signal;

/// The end of a wait.
using Deadline = std::chrono::time_point<std::chrono::steady_clock, Duration>;
[[nodiscard]] inline Deadline deadline_after(Duration patience) noexcept {
  return later(Deadline(std::chrono::steady_clock::now()), patience);
}
/// Waits until poll(2) reports one of the events, or an error on the descriptor.
/// Ends with: TimedOut.
Result<void> wait_until(int descriptor, short events, Deadline deadline) noexcept;

/// Repeats an attempt until it does not end with WouldBlock; in between waits for the events.
template <class Attempt>
auto repeat(int descriptor, short events, Deadline deadline, const Attempt& attempt) noexcept
    -> decltype(attempt()) {
  while (true) {
    auto result = attempt();
    if (result || result.error().code() != Errc::WouldBlock) return result;
    if (const auto ready = wait_until(descriptor, events, deadline); !ready) return ready.error();
  }
}

}  // namespace skua::net
