// SPDX-License-Identifier: MIT
//
// In: connections, a message and its answer. Out: how often they were exchanged.

#include "load.hpp"

#include "../raw/raw.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <utility>

namespace bench::load {

void add_options(CLI::App& app, LoadOptions& options) {
  app.add_option("--port", options.port, "Port of the server, at 127.0.0.1")->required();
  app.add_option("--connections", options.connections, "Connections")->check(CLI::Range(1, 100000));
  app.add_option("--size", options.size, "Bytes of a message");
  app.add_option("--seconds", options.seconds, "Duration");
}

Load::Load(std::string sent, std::string expected)
    : sent_(std::move(sent)),
      expected_(std::move(expected)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      buffer_(std::size_t{256} * 1024) {}

Load::~Load() {
  for (const int fd : sockets_) close(fd);
  if (publisher_ >= 0) close(publisher_);
  close(epoll_);
}

void Load::add(int fd) {
  sockets_.push_back(fd);
  streams_.resize(static_cast<std::size_t>(fd) + 1, Repetition(expected_));
  sent_at_.resize(streams_.size());
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) throw std::runtime_error("epoll_ctl");
}

void Load::echo(double seconds) {
  for (const int fd : sockets_) send(fd);
  run(seconds);
}

void Load::publish(int publisher, double seconds) {
  publisher_ = publisher;
  send(publisher_);
  run(seconds);
}

void Load::run(double seconds) {
  const auto begun = Clock::now();
  const auto until = begun + std::chrono::duration<double>(seconds);
  std::array<epoll_event, 512> events;
  while (Clock::now() < until) {
    const int ready = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 5000);
    if (ready == 0) throw std::runtime_error("no response for five seconds");
    for (int i = 0; i < ready; ++i) take(events[static_cast<std::size_t>(i)].data.fd);
  }
  const std::chrono::duration<double> lasted = Clock::now() - begun;
  std::printf(
      "{\"requests\": %zu, \"seconds\": %.6f, \"p50_us\": %.1f, \"p99_us\": %.1f, "
      "\"max_us\": %.1f}\n",
      messages_, lasted.count(), percentile(0.5), percentile(0.99), percentile(1));
}

double Load::percentile(double share) {
  if (waits_.empty()) return 0;
  const auto last = static_cast<double>(waits_.size() - 1);
  const auto at = waits_.begin() + static_cast<std::ptrdiff_t>(last * share);
  std::nth_element(waits_.begin(), at, waits_.end());
  return std::chrono::duration<double, std::micro>(*at).count();
}

void Load::send(int fd) {
  if (publisher_ < 0) sent_at_[static_cast<std::size_t>(fd)] = Clock::now();
  if (!send_all(fd, sent_)) throw std::runtime_error("the server accepts no more messages");
}

void Load::take(int fd) {
  const ssize_t received = recv(fd, buffer_.data(), buffer_.size(), 0);
  if (received < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (received <= 0) throw std::runtime_error("the server closed a connection");
  const int ended = streams_[static_cast<std::size_t>(fd)].take(
      {buffer_.data(), static_cast<std::size_t>(received)});
  if (ended < 0) throw std::runtime_error("the server sent wrong bytes");
  messages_ += static_cast<std::size_t>(ended);
  if (publisher_ >= 0) {
    if (ended != 0 && messages_ % sockets_.size() == 0) send(publisher_);
    return;
  }
  for (int answer = 0; answer < ended; ++answer) {
    waits_.push_back(Clock::now() - sent_at_[static_cast<std::size_t>(fd)]);
    send(fd);
  }
}

int run_generator(const char* name, int (*run)(int argc, char** argv), int argc, char** argv) {
  raw::allow_many_files();
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
}

}  // namespace bench::load
