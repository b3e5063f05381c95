// SPDX-License-Identifier: MIT
#pragma once

#include "loop/sockets.hpp"

#if !defined(_WIN32)
#include <pthread.h>
#include <signal.h>
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

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
  return sockets::recv(socket, bytes, size_bytes, 0);
}
inline ssize_t send_bytes(int socket, const char* bytes, std::size_t size_bytes,
                          int flags) noexcept {
  return sockets::send(socket, bytes, size_bytes, flags);
}

#endif
#undef SKUA_PLAIN_SOCKET_CALLS

/// Blocks SIGPIPE in the loop's thread: sendfile has no MSG_NOSIGNAL, and signal handlers belong
/// to the program. Windows has no such signal.
inline void block_sigpipe() noexcept {
#if !defined(_WIN32)
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
#endif
}

}  // namespace skua::loop
