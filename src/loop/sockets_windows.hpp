// SPDX-License-Identifier: MIT
#pragma once

// After these, for the types of the others.
#include <winsock2.h>
#include <ws2tcpip.h>

#include <afunix.h>
#include <mswsock.h>
#include <netioapi.h>

#include <cstddef>

using ssize_t = std::ptrdiff_t;
using sa_family_t = ADDRESS_FAMILY;
using suseconds_t = long;
using nfds_t = ULONG;

#if !defined(TCP_KEEPIDLE)  // older SDKs
#define TCP_KEEPIDLE 3
#define TCP_KEEPCNT 16
#define TCP_KEEPINTVL 17
#endif
#if !defined(EAI_SYSTEM)
#define EAI_SYSTEM (-1)  // never returned
#endif
#if !defined(SO_REUSEPORT)
#define SO_REUSEPORT 0x10000  // an option that Windows does not know
#endif
#if !defined(SHUT_WR)
#define SHUT_RD SD_RECEIVE
#define SHUT_WR SD_SEND
#define SHUT_RDWR SD_BOTH
#endif

struct iovec {
  void* iov_base;
  std::size_t iov_len;
};

struct msghdr {
  void* msg_name;
  socklen_t msg_namelen;
  iovec* msg_iov;
  std::size_t msg_iovlen;
  int msg_flags;
};

namespace skua::bsd {

int accept(int listener, sockaddr* address, socklen_t* size_bytes) noexcept;
int bind(int descriptor, const sockaddr* address, socklen_t size_bytes) noexcept;
int close(int descriptor) noexcept;
int connect(int descriptor, const sockaddr* address, socklen_t size_bytes) noexcept;
int getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                addrinfo** found) noexcept;
int getpeername(int descriptor, sockaddr* address, socklen_t* size_bytes) noexcept;
int getsockname(int descriptor, sockaddr* address, socklen_t* size_bytes) noexcept;
int getsockopt(int descriptor, int level, int name, void* value, socklen_t* size_bytes) noexcept;
int listen(int descriptor, int backlog) noexcept;
int poll(pollfd* entries, nfds_t count, int timeout) noexcept;
ssize_t recv(int descriptor, void* bytes, std::size_t size_bytes, int flags) noexcept;
ssize_t recvmsg(int descriptor, msghdr* message, int flags) noexcept;
ssize_t send(int descriptor, const void* bytes, std::size_t size_bytes, int flags) noexcept;
ssize_t sendmsg(int descriptor, const msghdr* message, int flags) noexcept;
ssize_t sendto(int descriptor, const void* bytes, std::size_t size_bytes, int flags,
               const sockaddr* address, socklen_t address_bytes) noexcept;
int setsockopt(int descriptor, int level, int name, const void* value,
               socklen_t size_bytes) noexcept;
int shutdown(int descriptor, int how) noexcept;

/// Windows documents that the values of its handles fit into 32 bits, so a descriptor is an int
/// on all platforms; -1 is INVALID_SOCKET.
inline SOCKET native(int descriptor) noexcept { return static_cast<SOCKET>(descriptor); }

}  // namespace skua::bsd
