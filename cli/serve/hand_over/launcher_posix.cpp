// SPDX-License-Identifier: MIT
// A request is the names of the sockets, a line each, and their descriptors; its last byte is 0. So
// is that of the answer: a process id, or `!` and a reason. The launcher takes nothing else from a
// server that may have been taken over by an attacker: the command is that of the start.
#include "serve/hand_over/launcher.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "net/problem.hpp"
#include "net/socket.hpp"
#include "service/signals.hpp"
#include "service/successor.hpp"

namespace skua::cli {
namespace {

constexpr Duration deadline = std::chrono::seconds(30);
constexpr auto time_between_questions = std::chrono::milliseconds(100);
constexpr int longest_end_ms = 5000;
constexpr std::size_t max_sockets = 250;     // SCM_MAX_FD of Linux is 253
constexpr std::string_view owns_path = "*";  // before the name

Problem failed_to(const char* what) {
  return net::could_not("start", "another process", Error::from_system(errno, what));
}

/// The room for the descriptors of a message.
union Control {
  cmsghdr align;
  std::array<char, CMSG_SPACE(max_sockets * sizeof(int))> bytes;
};

// The server's side
// -------------------------------------------------------------------------------

Result<void, Problem> send_request(int channel, const std::vector<ListeningSocket>& sockets) {
  std::string names;
  std::vector<int> descriptors;
  for (const ListeningSocket& listener : sockets) {
    names.append(listener.owns_path ? owns_path : "").append(listener.name).append("\n");
    descriptors.push_back(listener.socket->descriptor());
  }
  names.push_back('\0');
  Control control{};
  iovec text{names.data(), names.size()};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  // These lengths are of another type in each C library.
  const std::size_t size = descriptors.size() * sizeof(int);
  message.msg_controllen = static_cast<decltype(message.msg_controllen)>(CMSG_SPACE(size));
  cmsghdr* const part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = static_cast<decltype(part->cmsg_len)>(CMSG_LEN(size));
  std::memcpy(CMSG_DATA(part), descriptors.data(), size);
  const ssize_t sent = ::sendmsg(channel, &message, net::no_signal);
  if (sent != static_cast<ssize_t>(names.size())) return failed_to("sendmsg");
  return {};
}

Result<int, Problem> outcome_in(std::string_view answer) {
  int process = 0;
  const auto [end, error] = std::from_chars(answer.data(), answer.data() + answer.size(), process);
  if (error == std::errc() && end == answer.data() + answer.size()) return process;
  answer.remove_prefix(answer.starts_with('!') ? 1 : 0);
  return Problem{Error(Errc::SystemFailure, "--hand-over"), std::string(answer)};
}

Result<int, Problem> read_answer(int channel) {
  std::string answer;
  while (!answer.ends_with('\0')) {
    if (service::is_end_pending()) return outcome_in("!this server was told to end");
    pollfd ready{channel, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(time_between_questions.count())) <= 0) continue;
    std::array<char, 1024> buffer;
    const ssize_t count = ::recv(channel, buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return outcome_in("!the launcher has ended");
    answer.append(buffer.data(), static_cast<std::size_t>(count));
  }
  answer.pop_back();
  return outcome_in(answer);
}

// The launcher's side
// -----------------------------------------------------------------------------

bool has_server_ended(int channel) {
  char byte = 0;
  return ::recv(channel, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

void take_descriptors(msghdr& message, std::vector<ListeningSocket>& sockets) {
  const cmsghdr* const part = CMSG_FIRSTHDR(&message);  // the only one, as only these are asked for
  if (part == nullptr || part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) return;
  const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t i = 0; i < count; ++i) {
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(part) + i * sizeof descriptor, sizeof descriptor);
    sockets.push_back({std::make_shared<Socket>(descriptor), {}});
    static_cast<void>(bsd::set_flags(descriptor));
  }
}

/// Returns no sockets once the server has ended.
std::vector<ListeningSocket> read_request(int channel) {
  std::vector<ListeningSocket> sockets;
  std::string names;
  while (!names.ends_with('\0')) {
    Control control{};
    std::array<char, 4096> buffer;
    iovec text{buffer.data(), buffer.size()};
    msghdr message{};
    message.msg_iov = &text;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    const ssize_t count = ::recvmsg(channel, &message, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return {};
    take_descriptors(message, sockets);
    names.append(buffer.data(), static_cast<std::size_t>(count));
  }
  std::string_view rest = names;
  for (ListeningSocket& listener : sockets) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    listener.owns_path = rest.starts_with(owns_path);
    listener.name = rest.substr(listener.owns_path ? 1 : 0, end - (listener.owns_path ? 1 : 0));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return sockets;
}

void answer(int channel, const Result<int, Problem>& process) {
  std::string text = process ? std::to_string(*process) : "!" + process.error().text;
  text.push_back('\0');
  static_cast<void>(!::send(channel, text.data(), text.size(), net::no_signal));
}

/// The manager's variables, which the server takes out of its own environment.
std::vector<std::string> manager_variables(pid_t server) {
  std::vector<std::string> variables;
  const char* const socket = std::getenv("NOTIFY_SOCKET");
  const char* const watchdog = std::getenv("WATCHDOG_USEC");
  const char* const watched = std::getenv("WATCHDOG_PID");
  if (socket != nullptr) variables.push_back(std::string("NOTIFY_SOCKET=") + socket);
  if (watchdog != nullptr && (watched == nullptr || watched == std::to_string(server))) {
    variables.push_back(std::string("WATCHDOG_USEC=") + watchdog);
  }
  return variables;
}

// It has no file but the channel and the standard ones, and takes no signal: the server gets those
// that are sent to both, by a terminal or a service manager.
[[noreturn]] void run(int channel, std::vector<std::string> command) {
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  constexpr int first = STDERR_FILENO + 1;
  constexpr int last = 1024;  // only those are open when a command begins
  for (int descriptor = first; descriptor < last; ++descriptor) {
    if (descriptor != channel) ::close(descriptor);
  }
#if defined(__linux__)
  ::prctl(PR_SET_NAME, "skua-launcher", 0, 0, 0);
#endif
  service::Successor successor{.command = std::move(command),
                               .variables = manager_variables(::getppid()),
                               .deadline = deadline,
                               .is_unwanted = [channel] { return has_server_ended(channel); }};
  while (true) {
    successor.sockets = read_request(channel);
    if (successor.sockets.empty()) ::_exit(0);
    const auto process = service::start(successor);
    answer(channel, process);
    if (process) ::_exit(0);
  }
}

}  // namespace

Result<void, Problem> Launcher::start() {
  auto command = service::own_command();
  if (!command) return std::move(command).error();
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) return failed_to("socketpair");
  Socket own(ends[0]);
  const Socket other(ends[1]);
  for (const int end : ends) {
    bsd::set_flags(end);
    bsd::set_blocking(end, true);
  }
  const pid_t process = ::fork();
  if (process < 0) return failed_to("fork");
  if (process == 0) {
    own.close();
    run(other.descriptor(), *std::move(command));
  }
  channel_ = own.release();
  return {};
}

Result<int, Problem> Launcher::launch(const std::vector<ListeningSocket>& sockets) const {
  if (sockets.size() > max_sockets) return outcome_in("!there are too many listening sockets");
  if (const auto sent = send_request(channel_, sockets); !sent) return sent.error();
  return read_answer(channel_);
}

void Launcher::end() noexcept {
  if (channel_ < 0) return;
  ::shutdown(channel_, SHUT_WR);
  pollfd ended{channel_, POLLIN, 0};
  while (::poll(&ended, 1, longest_end_ms) > 0) {
    std::array<char, 256> unread;
    if (::recv(channel_, unread.data(), unread.size(), 0) <= 0) break;
  }
  ::close(channel_);
  channel_ = -1;
}

}  // namespace skua::cli
