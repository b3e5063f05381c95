// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/types.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <array>
#include <cstddef>

namespace skua::loop {

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
  return ::recv(socket, bytes, size_bytes, 0);
}
inline ssize_t send_bytes(int socket, const char* bytes, std::size_t size_bytes,
                          int flags) noexcept {
  return ::send(socket, bytes, size_bytes, flags);
}

#endif
#undef SKUA_PLAIN_SOCKET_CALLS

/// The flag of a send that must not raise SIGPIPE.
#if defined(MSG_NOSIGNAL)
inline constexpr int no_signal = MSG_NOSIGNAL;
#else
inline constexpr int no_signal = 0;
#endif

/// Makes a descriptor non-blocking and close-on-exec, and its sends raise no SIGPIPE. Returns false
/// and sets errno on failure.
inline bool set_flags(int descriptor) noexcept {
#if defined(SO_NOSIGPIPE)
  const int on = 1;  // fails for pipes, and if the peer has gone
  ::setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
  const int status = ::fcntl(descriptor, F_GETFL);
  const int flags = ::fcntl(descriptor, F_GETFD);
  return status >= 0 && flags >= 0 && ::fcntl(descriptor, F_SETFL, status | O_NONBLOCK) == 0 &&
         ::fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) == 0;
}

/// Creates a pair of connected Unix sockets with these flags. Returns false and sets errno on
/// failure.
inline bool make_socket_pair(std::array<int, 2>& ends) noexcept {
#if defined(SOCK_NONBLOCK) && defined(SOCK_CLOEXEC)
  return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0;
#else
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) return false;
  for (const int end : ends) static_cast<void>(set_flags(end));
  return true;
#endif
}

/// Accepts one connection: non-blocking and close-on-exec. Returns -1 and sets errno on failure.
inline int accept_one(int listener) noexcept {
#if defined(SOCK_NONBLOCK) && defined(SOCK_CLOEXEC)
  return ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
  const int descriptor = ::accept(listener, nullptr, nullptr);
  if (descriptor >= 0) static_cast<void>(set_flags(descriptor));
  return descriptor;
#endif
}

/// Blocks SIGPIPE in the loop's thread: sendfile has no MSG_NOSIGNAL, and signal handlers belong
/// to the program.
inline void block_sigpipe() noexcept {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

}  // namespace skua::loop
