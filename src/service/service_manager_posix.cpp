// SPDX-License-Identifier: MIT
// In: the variables of a service manager, and those of a predecessor. Out: lines to both.
// The socket is connected at once, so that a sandbox that is entered later may forbid that.
#include "skua/service_manager.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "base/disk.hpp"
#include "net/problem.hpp"
#include "net/socket.hpp"
#include "skua/address.hpp"

namespace skua {
namespace {

constexpr auto longest_send = std::chrono::seconds(5);

/// Returns the value of a variable, which is removed, or an empty text.
std::string take_variable(const char* name) {
  const char* const value = std::getenv(name);
  std::string taken(value != nullptr ? value : "");
  ::unsetenv(name);
  return taken;
}

template <class Number>
std::optional<Number> whole_number(std::string_view text) noexcept {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// Returns the time of WATCHDOG_USEC; zero if it is for another process, or malformed.
Duration take_watchdog() {
  const std::string time = take_variable("WATCHDOG_USEC");
  const std::string process = take_variable("WATCHDOG_PID");
  if (!process.empty() && whole_number<int>(process) != ::getpid()) return {};
  const auto microseconds = whole_number<std::int64_t>(time);
  constexpr std::int64_t most = Duration::max() / std::chrono::microseconds(1);
  if (!microseconds || *microseconds > most) return {};
  return std::chrono::microseconds(*microseconds);
}

Result<Socket, Problem> connect_to(const std::string& name) {
  const auto unusable = [&](Error why) { return net::could_not("notify", name, why); };
  const bool is_abstract = name.starts_with('@');
  if (!is_abstract && !name.starts_with('/')) {
    return unusable(Error(Errc::Unsupported, "NOTIFY_SOCKET"));
  }
  const Result<Address> address =
      is_abstract ? Address::unix_abstract(name.substr(1)) : Address::unix_path(name);
  if (!address) return unusable(address.error());
  Result<Socket> socket = net::create_socket(address->family(), SOCK_DGRAM);
  if (!socket) return unusable(socket.error());
  if (bsd::connect(socket->descriptor(), address->data(), address->size_bytes()) != 0) {
    return unusable(net::failure(errno, "connect"));
  }
  bsd::set_blocking(socket->descriptor(), true);
  bsd::set_send_timeout(socket->descriptor(), longest_send);
  return *std::move(socket);
}

/// Returns the pipe of SKUA_READY=DESCRIPTOR:PROCESS; -1 if there is none for this process.
Result<int, Problem> take_ready_pipe() {
  const std::string text = take_variable("SKUA_READY");
  if (text.empty()) return -1;
  const std::size_t colon = std::min(text.find(':'), text.size() - 1);
  const auto pipe = whole_number<int>(std::string_view(text).substr(0, colon));
  const auto process = whole_number<int>(std::string_view(text).substr(colon + 1));
  const Problem malformed{Error(Errc::InvalidAddress, "SKUA_READY"),
                          "SKUA_READY is malformed: \"" + text + "\""};
  if (!process || !pipe) return malformed;
  if (*process != ::getpid()) return -1;
  struct stat kind{};
  if (::fstat(*pipe, &kind) != 0 || !S_ISFIFO(kind.st_mode)) return malformed;
  ::fcntl(*pipe, F_SETFD, FD_CLOEXEC);
  return *pipe;
}

bool is_sigpipe_pending() noexcept {
  sigset_t pending{};
  return ::sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

/// Writes to a pipe, and raises no SIGPIPE if its reader is gone.
void write_quietly(int pipe, std::string_view text) noexcept {
  sigset_t signals{};
  sigset_t before{};
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  const bool was_pending = is_sigpipe_pending();
  ssize_t written = 0;
  do {
    written = ::write(pipe, text.data(), text.size());
  } while (written < 0 && errno == EINTR);
  int taken = 0;
  if (!was_pending && is_sigpipe_pending()) sigwait(&signals, &taken);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

ServiceManager::ServiceManager() : watchdog_(take_watchdog()) {
  auto pipe = take_ready_pipe();
  if (pipe) {
    ready_pipe_ = *pipe;
  } else {
    problem_ = std::move(pipe).error();
  }
  is_successor_ = ready_pipe_ >= 0;
  address_ = take_variable("NOTIFY_SOCKET");
  if (address_.empty()) return;
  auto socket = connect_to(address_);
  if (!socket) {
    problem_ = std::move(socket).error();
    return;
  }
  socket_ = *std::move(socket);
}

ServiceManager::~ServiceManager() {
  if (ready_pipe_ >= 0) ::close(ready_pipe_);
}

// The predecessor tells the manager who the service is now, before that is ours to say. It may have
// been killed.
void ServiceManager::ready() {
  const disk::Descriptor pipe(ready_pipe_.exchange(-1));
  if (!pipe) return send("READY=1");
  write_quietly(pipe.number(), "READY=1\n");
}

void ServiceManager::status(std::string_view text) {
  std::string line = "STATUS=";
  for (const char c : text) line += c == '\n' ? ' ' : c;
  send(line);
}

void ServiceManager::reloading() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();  // CLOCK_MONOTONIC
  const auto time = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(time));
}

void ServiceManager::stopping() { send("STOPPING=1"); }

void ServiceManager::keep_alive() { send("WATCHDOG=1"); }

void ServiceManager::replaced_by(int process) {
  send("MAINPID=" + std::to_string(process) + "\nREADY=1");
  is_replaced_ = true;
}

std::vector<std::string> ServiceManager::variables() const {
  std::vector<std::string> all;
  if (!address_.empty()) all.push_back("NOTIFY_SOCKET=" + address_);
  if (watchdog_ != Duration::zero()) {
    all.push_back("WATCHDOG_USEC=" + std::to_string(watchdog_ / std::chrono::microseconds(1)));
  }
  return all;
}

// The manager may be gone, or too busy: the program goes on without it.
void ServiceManager::send(std::string_view text) noexcept {
  if (!socket_ || is_replaced_) return;
  ssize_t sent = 0;
  do {
    sent = bsd::send(socket_.descriptor(), text.data(), text.size(), net::no_signal);
  } while (sent < 0 && errno == EINTR);
}

}  // namespace skua
