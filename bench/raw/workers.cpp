// SPDX-License-Identifier: MIT
//
// In: an address and a worker function. Out: the exit code, after a signal has ended all workers.
// The idea: SIGTERM and SIGINT are blocked and arrive at a signalfd that is never read, so it stays
// readable and wakes every worker.

#include "raw.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

namespace bench::raw {
namespace {

// Returns a listening socket and writes its port to `address`; -1 on failure, with errno set.
int open_listener(sockaddr_in& address, bool shared) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener < 0) return -1;
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (shared) setsockopt(listener, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  // Accepted sockets inherit the option, which saves one system call per connection.
  setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener, generic, size) != 0 || listen(listener, 4096) != 0 ||
      getsockname(listener, generic, &size) != 0) {
    const int error = errno;
    close(listener);
    errno = error;
    return -1;
  }
  return listener;
}

int block_signals() {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  return signalfd(-1, &ending, SFD_NONBLOCK | SFD_CLOEXEC);
}

}  // namespace

void allow_many_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int run_workers(const RawOptions& options, const Worker& worker) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(options.port);
  if (inet_pton(AF_INET, options.host.c_str(), &address.sin_addr) != 1) {
    std::fprintf(stderr, "%s is not a numeric IPv4 address\n", options.host.c_str());
    return 2;
  }
  allow_many_files();
  const int signals = block_signals();
  const unsigned threads = options.threads == 0 ? 1 : options.threads;
  std::vector<int> listeners;
  for (unsigned i = 0; i < threads; ++i) {
    const int listener = open_listener(address, threads > 1);
    if (listener < 0 || signals < 0) {
      std::fprintf(stderr, "cannot listen on %s:%u: %s\n", options.host.c_str(),
                   unsigned{options.port}, std::strerror(errno));
      return 1;
    }
    listeners.push_back(listener);
  }
  std::printf("listening on http://%s:%u\n", options.host.c_str(),
              unsigned{ntohs(address.sin_port)});
  std::fflush(stdout);

  std::atomic<bool> ran = true;
  const auto run = [&](int listener) {
    if (!worker(listener, signals)) ran = false;
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(run, listeners[i]);
  run(listeners[0]);
  for (std::thread& other : others) other.join();
  for (const int listener : listeners) close(listener);
  close(signals);
  return ran ? 0 : 1;
}

}  // namespace bench::raw
