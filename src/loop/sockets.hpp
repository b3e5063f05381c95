// SPDX-License-Identifier: MIT
// The socket calls of POSIX, whatever the platform calls them. On POSIX systems these are the
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

namespace skua::sockets {

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

}  // namespace skua::sockets

#endif

#include <chrono>
#include <string>

namespace skua::sockets {

/// Creates a socket that is non-blocking and that child processes do not inherit. Returns -1 and
/// sets errno on failure.
int open(int domain, int type) noexcept;
/// Accepts one connection; its socket is like that of open(). Returns -1 and sets errno on failure.
int accept_one(int listener) noexcept;
/// Makes a socket like those of open(). Returns -1 and sets errno on failure.
int set_flags(int descriptor) noexcept;
int set_blocking(int descriptor, bool is_blocking) noexcept;
/// Opens a cheap descriptor, to be closed when a socket needs its place.
int open_reserve() noexcept;
/// Bounds sends and connects that block (SO_SNDTIMEO); zero is no bound.
int set_send_timeout(int descriptor, std::chrono::microseconds timeout) noexcept;
/// Sets the interface that datagrams to IPv4 groups leave through; 0 is the system's choice.
int set_ipv4_multicast_interface(int descriptor, unsigned index) noexcept;
/// Creates two sockets that are connected with each other: of AF_UNIX, or on Windows of TCP over
/// the loopback interface. Returns -1 and sets errno on failure.
int pair(int (&ends)[2]) noexcept;

/// Whether the path leads to a Unix socket itself, not to a link.
bool is_socket_file(const std::string& path) noexcept;
/// Returns the resolver's text for a failure of getaddrinfo().
const char* lookup_failure_text(int failure) noexcept;
/// The system's file of host names: `/etc/hosts`.
std::string hosts_file();
/// Returns the machine's name, or an empty text if it has none.
std::string machine_name();

}  // namespace skua::sockets
