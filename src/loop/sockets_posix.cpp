// SPDX-License-Identifier: MIT
#include "loop/sockets.hpp"

#include <fcntl.h>
#include <signal.h>
#if defined(__linux__)
#include <sys/sendfile.h>
#endif
#include <sys/stat.h>
#include <sys/time.h>

#include <array>
#include <cerrno>

namespace skua::bsd {

#if defined(SOCK_NONBLOCK) && defined(SOCK_CLOEXEC)

int open(int domain, int type) noexcept {
  return ::socket(domain, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

int accept_one(int listener) noexcept {
  return ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int pair(std::array<int, 2>& ends) noexcept {
  return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data());
}

#else

int open(int domain, int type) noexcept {
  const int descriptor = ::socket(domain, type, 0);
  if (descriptor >= 0) static_cast<void>(set_flags(descriptor));
  return descriptor;
}

int accept_one(int listener) noexcept {
  const int descriptor = ::accept(listener, nullptr, nullptr);
  if (descriptor >= 0) static_cast<void>(set_flags(descriptor));
  return descriptor;
}

int pair(std::array<int, 2>& ends) noexcept {
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) return -1;
  for (const int end : ends) static_cast<void>(set_flags(end));
  return 0;
}

#endif

int set_flags(int descriptor) noexcept {
#if defined(SO_NOSIGPIPE)
  const int on = 1;  // fails for pipes, and if the peer has gone
  ::setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
  const int flags = ::fcntl(descriptor, F_GETFD);
  if (flags < 0 || ::fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) != 0) return -1;
  return set_blocking(descriptor, false);
}

int duplicate(int descriptor) noexcept { return ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0); }

int set_blocking(int descriptor, bool is_blocking) noexcept {
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0) return -1;
  return ::fcntl(descriptor, F_SETFL, is_blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

int claim_port(int descriptor) noexcept {
  const int on = 1;
  return ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
}

int open_reserve() noexcept { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

int set_send_timeout(int descriptor, std::chrono::microseconds timeout) noexcept {
  timeval value{};
  value.tv_sec = static_cast<time_t>(timeout.count() / 1'000'000);
  value.tv_usec = static_cast<suseconds_t>(timeout.count() % 1'000'000);
  return ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &value, sizeof value);
}

bool is_ipv6(int descriptor) noexcept {
  sockaddr_storage local{};
  socklen_t size_bytes = sizeof local;
  const int result = ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&local), &size_bytes);
  return result == 0 && local.ss_family == AF_INET6;
}

int set_ipv4_multicast_interface(int descriptor, unsigned index) noexcept {
  ip_mreqn request{};
  request.imr_ifindex = static_cast<int>(index);
  return ::setsockopt(descriptor, IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request);
}

// macOS and FreeBSD count what went out before a failure.
ssize_t send_file([[maybe_unused]] int descriptor, [[maybe_unused]] int file,
                  [[maybe_unused]] std::uint64_t offset,
                  [[maybe_unused]] std::size_t size_bytes) noexcept {
#if defined(__linux__)
  auto position = static_cast<off_t>(offset);
  return ::sendfile(descriptor, file, &position, size_bytes);
#elif defined(__APPLE__)
  auto count = static_cast<off_t>(size_bytes);
  const int result = ::sendfile(file, descriptor, static_cast<off_t>(offset), &count, nullptr, 0);
  return result == 0 || count > 0 ? static_cast<ssize_t>(count) : -1;
#elif defined(__FreeBSD__) || defined(__DragonFly__)
  off_t count = 0;
  const int result =
      ::sendfile(file, descriptor, static_cast<off_t>(offset), size_bytes, nullptr, &count, 0);
  return result == 0 || count > 0 ? static_cast<ssize_t>(count) : -1;
#else
  errno = ENOSYS;
  return -1;
#endif
}

void block_sigpipe() noexcept {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

bool is_socket_file(const std::string& path) noexcept {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode);
}

const char* lookup_failure_text(int failure) noexcept { return ::gai_strerror(failure); }

std::string hosts_file() { return "/etc/hosts"; }

std::string machine_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

}  // namespace skua::bsd
