// SPDX-License-Identifier: MIT
// The calls of BSD sockets, whatever the platform calls them. On POSIX systems these are the
// system's own functions and cost nothing. On Windows they are Winsock's, with POSIX's types and
// errno, so that code above has one form; loop/sockets_windows.cpp says what differs.
#pragma once

#if defined(_WIN32)
#include "loop/sockets_windows.hpp"
#else

#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

namespace skua::bsd {

using ::accept;
using ::bind;
using ::close;
using ::connect;
using ::getaddrinfo;
using ::getpeername;
using ::getsockname;
using ::getsockopt;
using ::listen;
using ::poll;
using ::recv;
using ::recvmsg;
using ::send;
using ::sendmsg;
using ::sendto;
using ::setsockopt;
using ::shutdown;

/// Returns the descriptor as a pollfd and the system's other calls take it.
inline int native(int descriptor) noexcept { return descriptor; }

}  // namespace skua::bsd

#endif

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace skua::bsd {

/// The flag of a send that must not raise SIGPIPE.
#if defined(MSG_NOSIGNAL)
inline constexpr int no_signal = MSG_NOSIGNAL;
#else
inline constexpr int no_signal = 0;
#endif

// glibc makes recv and send cancellation points, which costs each call four locked instructions
// as soon as the program has a second thread. A loop's thread is never cancelled, so on Linux
// the system calls are made directly. Not under sanitizers, which must see what the calls read
// and wrote, nor on 32-bit x86, where one system call serves several.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SKUA_PLAIN_SOCKET_CALLS 1
#elif defined(__has_feature)
#if __has_feature(memory_sanitizer) || __has_feature(address_sanitizer) || \
    __has_feature(thread_sanitizer)
#define SKUA_PLAIN_SOCKET_CALLS 1
#endif
#endif
#if !defined(SKUA_PLAIN_SOCKET_CALLS) && defined(SYS_recvfrom) && defined(SYS_sendto)

inline ssize_t receive_bytes(int socket, char* bytes, std::size_t size_bytes) noexcept {
  return ::syscall(SYS_recvfrom, socket, bytes, size_bytes, 0, nullptr, nullptr);
}
inline ssize_t send_bytes(int socket, const char* bytes, std::size_t size_bytes,
                          int flags) noexcept {
  return ::syscall(SYS_sendto, socket, bytes, size_bytes, flags, nullptr, 0);
}

#else

inline ssize_t receive_bytes(int socket, char* bytes, std::size_t size_bytes) noexcept {
  return recv(socket, bytes, size_bytes, 0);
}
inline ssize_t send_bytes(int socket, const char* bytes, std::size_t size_bytes,
                          int flags) noexcept {
  return send(socket, bytes, size_bytes, flags);
}

#endif
#undef SKUA_PLAIN_SOCKET_CALLS

/// Creates a socket that is non-blocking and that child processes do not inherit. Returns -1 and
/// sets errno on failure.
int open(int domain, int type) noexcept;
/// Accepts one connection; its socket is like that of open(). Returns -1 and sets errno on failure.
int accept_one(int listener) noexcept;
/// Makes a descriptor like those of open(), and its sends raise no SIGPIPE. Returns -1 and sets
/// errno on failure.
int set_flags(int descriptor) noexcept;
/// Duplicates a descriptor; child processes do not inherit it. Returns -1 and sets errno on
/// failure.
int duplicate(int descriptor) noexcept;
int set_blocking(int descriptor, bool is_blocking) noexcept;
/// Before bind() of a listener: lets it have the port despite old connections in TIME_WAIT, and no
/// other listener beside it. Returns -1 and sets errno on failure.
int claim_port(int descriptor) noexcept;
/// Opens a cheap descriptor, to be closed when a socket needs its place.
int open_reserve() noexcept;
/// Bounds sends and connects that block (SO_SNDTIMEO); zero is no bound.
int set_send_timeout(int descriptor, std::chrono::microseconds timeout) noexcept;
/// Reports whether a socket is of IPv6; it need not be bound.
bool is_ipv6(int descriptor) noexcept;
/// Sets the interface that datagrams to IPv4 groups leave through; 0 is the system's choice.
int set_ipv4_multicast_interface(int descriptor, unsigned index) noexcept;
/// Creates two sockets that are connected with each other: of AF_UNIX, or on Windows of TCP over
/// the loopback interface. Returns -1 and sets errno on failure.
int pair(std::array<int, 2>& ends) noexcept;
/// Sends a piece of a file without copying it into the program. Returns how many bytes were taken,
/// 0 at the end of the file, or -1 and sets errno: EINVAL, ENOSYS or ENOTSUP if the system cannot.
ssize_t send_file(int descriptor, int file, std::uint64_t offset, std::size_t size_bytes) noexcept;
/// Blocks SIGPIPE in this thread: send_file() takes no flags, and signal handlers belong to the
/// program.
void block_sigpipe() noexcept;

/// Whether the path leads to a Unix socket itself, not to a link.
bool is_socket_file(const std::string& path) noexcept;
/// Returns the resolver's text for a failure of getaddrinfo().
const char* lookup_failure_text(int failure) noexcept;
/// The system's file of host names: `/etc/hosts`.
std::string hosts_file();
/// Returns the machine's name, or an empty text if it has none.
std::string machine_name();

}  // namespace skua::bsd
