// SPDX-License-Identifier: MIT
//
// In: the address of a WebSocket server. Out: `N messages in S s`, for bench/websocket.
// The idea: `echo` keeps one message in flight on each connection. `publish` sends one message on
// one connection, and the next once every subscriber has it. The work per message is the same for
// every server, so the generator's CPU time is a yardstick. Every byte is compared.

#include "../raw/frames.hpp"
#include "connections.hpp"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <vector>

namespace bench::load {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::uint16_t port = 0;
  std::string path = "/";
  /// Path for publishing; the subscribers are at `path`.
  std::string publish;
  std::size_t connections = 64;
  std::size_t size = 16;
  double seconds = 3;
  bool is_text = false;
};

class Load final {
 public:
  explicit Load(const Options& options)
      : options_(options),
        sent_(
            raw::client_frame(options.is_text, std::string(options.size, 's'), "\x5a\x11\x9c\x3e")),
        expected_(raw::server_frame(options.is_text, std::string(options.size, 's'))),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        buffer_(std::size_t{256} * 1024) {}
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  ~Load() {
    for (const int fd : sockets_) close(fd);
    close(epoll_);
  }

  void run() {
    for (std::size_t i = 0; i < options_.connections; ++i) add(options_.path);
    const bool echoes = options_.publish.empty();
    if (!echoes) publisher_ = open_websocket(options_.port, options_.publish);
    if (!echoes) sockets_.push_back(publisher_);
    const auto begun = Clock::now();
    const auto until = begun + std::chrono::duration<double>(options_.seconds);
    for (std::size_t i = 0; echoes && i < options_.connections; ++i) send(sockets_[i]);
    if (!echoes) send(publisher_);
    while (Clock::now() < until) turn(echoes);
    const std::chrono::duration<double> lasted = Clock::now() - begun;
    std::printf("%zu messages in %.3f s\n", messages_, lasted.count());
  }

 private:
  void add(const std::string& path) {
    const int fd = open_websocket(options_.port, path);
    sockets_.push_back(fd);
    streams_.resize(static_cast<std::size_t>(fd) + 1, Repetition(expected_));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) throw std::runtime_error("epoll_ctl");
  }

  void send(int fd) {
    if (!send_all(fd, sent_)) throw std::runtime_error("the server accepts no more messages");
  }

  void turn(bool echoes) {
    std::array<epoll_event, 512> events;
    const int ready = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 5000);
    if (ready == 0) throw std::runtime_error("no response for five seconds");
    for (int i = 0; i < ready; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      const ssize_t received = recv(fd, buffer_.data(), buffer_.size(), 0);
      if (received < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (received <= 0) throw std::runtime_error("the server closed a connection");
      const int ended = streams_[static_cast<std::size_t>(fd)].take(
          {buffer_.data(), static_cast<std::size_t>(received)});
      if (ended < 0) throw std::runtime_error("the server sent wrong bytes");
      messages_ += static_cast<std::size_t>(ended);
      for (int answer = 0; echoes && answer < ended; ++answer) send(fd);
      if (!echoes && ended != 0 && messages_ % options_.connections == 0) send(publisher_);
    }
  }

  Options options_;
  std::string sent_;
  std::string expected_;
  int epoll_;
  int publisher_ = -1;
  std::vector<int> sockets_;
  std::vector<Repetition> streams_;  // by descriptor
  std::vector<char> buffer_;
  std::size_t messages_ = 0;  // received
};

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Loads a WebSocket server; prints how many messages it sent.");
  app.add_option("--port", options.port, "Port of the server, at 127.0.0.1")->required();
  app.add_option("--path", options.path, "Path of the echo, or of the subscribers");
  app.add_option("--publish", options.publish, "Path whose messages go to all subscribers");
  app.add_option("--connections", options.connections, "Connections")->check(CLI::Range(1, 100000));
  app.add_option("--size", options.size, "Bytes of a message");
  app.add_option("--seconds", options.seconds, "Duration");
  app.add_flag("--text", options.is_text, "Text instead of binary messages");
  CLI11_PARSE(app, argc, argv);
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  Load(options).run();
  return 0;
}

}  // namespace
}  // namespace bench::load

int main(int argc, char** argv) {
  try {
    return bench::load::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "skua-bench-ws-load: %s\n", error.what());
    return 1;
  }
}
