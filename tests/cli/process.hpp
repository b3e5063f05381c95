// SPDX-License-Identifier: MIT
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/paths.hpp"

extern char** environ;

namespace skua::test {

/// A running `skua` process; the destructor kills it and waits for it.
class Process {
 public:
  /// The process's standard streams.
  enum class With : std::uint8_t {
    Output,    ///< inherits our stdin
    Pipes,     ///< reads what write() sends, until end_input()
    Terminal,  ///< like Pipes, but on a terminal, which echoes its input
    Errors,    ///< inherits our stdin; stderr is a terminal
  };

  /// `folder` is the working directory; empty: ours.
  explicit Process(std::vector<std::string> arguments, With with = With::Output,
                   const std::string& folder = "") {
    std::array<int, 2> in{-1, -1};
    std::array<int, 2> out{-1, -1};
    std::array<int, 2> err{-1, -1};
    if (!open_pair(out, with == With::Terminal)) return;
    if (with == With::Terminal) in = {dup(out[1]), dup(out[0])};
    if (with == With::Pipes && !open_pair(in, false)) return;
    if (!open_pair(err, with == With::Errors)) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    if (in[0] >= 0) posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
    arguments.insert(arguments.begin(), skua::testing::program_path("skua"));
    std::vector<char*> words;
    for (std::string& word : arguments) words.push_back(word.data());
    words.push_back(nullptr);
    if (posix_spawn(&id_, words[0], &actions, nullptr, words.data(), environ) != 0) id_ = -1;
    posix_spawn_file_actions_destroy(&actions);
    for (const int file : {in[0], out[1], err[1]}) close(file);
    in_ = in[1];
    out_ = out[0];
    err_ = err[0];
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (id_ > 0) {
      kill(id_, SIGKILL);
      waitpid(id_, nullptr, 0);
    }
    for (const int file : {in_, out_, err_}) close(file);
  }

  void write(std::string_view text) const { (void)!::write(in_, text.data(), text.size()); }
  void end_input() {
    close(in_);
    in_ = -1;
  }
  /// The next line of its stdout, without the line feed.
  std::string line() const { return read_until(out_, '\n'); }
  /// Reads stderr up to and including the first line that contains `text`, or to the end if no
  /// line does.
  std::string errors_until(std::string_view text) const {
    std::string all;
    for (std::string line; !(line = read_until(err_, '\n')).empty();) {
      all.append(line).append("\n");
      if (line.find(text) != std::string::npos) break;
    }
    return all;
  }
  /// Reads stderr up to and including `text`, or to the end if there is none.
  std::string errors_up_to(std::string_view text) const {
    std::string all;
    for (pollfd ready{err_, POLLIN, 0}; !all.ends_with(text) && poll(&ready, 1, 20'000) > 0;) {
      char c = 0;
      if (read(err_, &c, 1) != 1) break;
      all += c;
    }
    return all;
  }
  /// Changes the width of the terminal that stderr is.
  void resize_errors(unsigned short columns) const {
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    ioctl(err_, TIOCSWINSZ, &size);
  }
  /// Reads the rest of stderr, until the process ends.
  std::string errors() const { return read_until(err_, '\0'); }
  /// Reads the rest of stdout, until the process ends.
  std::string output() const { return read_until(out_, '\0'); }
  [[nodiscard]] pid_t id() const { return id_; }
  void signal(int number) const { kill(id_, number); }
  /// Waits for the exit code; 128 plus the signal's number if a signal ended the process.
  int wait() {
    int status = 0;
    waitpid(id_, &status, 0);
    id_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  // Sets the read end and the write end.
  static bool open_pair(std::array<int, 2>& ends, bool is_terminal) {
    if (!is_terminal) return pipe2(ends.data(), O_CLOEXEC) == 0;
    ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ends[0] < 0 || grantpt(ends[0]) != 0 || unlockpt(ends[0]) != 0) return false;
    ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY | O_CLOEXEC);
    return ends[1] >= 0;
  }
  static std::string read_until(int file, char last) {
    std::string text;
    char c = 0;
    while (true) {
      pollfd ready{file, POLLIN, 0};
      if (poll(&ready, 1, 20'000) <= 0 || read(file, &c, 1) != 1) return text;
      if (c == last) return text;
      text += c;
    }
  }

  pid_t id_ = -1;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
};

/// A connection to a port of 127.0.0.1.
class Connection {
 public:
  explicit Connection(std::uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval limit{20, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    is_open_ = connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { close(socket_); }

  [[nodiscard]] bool is_open() const { return is_open_; }
  /// Says that nothing more is sent.
  void end_input() const { ::shutdown(socket_, SHUT_WR); }
  void send(std::string_view text) const {
    (void)::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
  }
  /// Returns the next bytes; empty once the peer has closed.
  [[nodiscard]] std::string receive_some() const {
    char buffer[4096];
    ssize_t count = 0;
    do {
      count = recv(socket_, buffer, sizeof buffer, 0);
    } while (count < 0 && errno == EINTR);  // not restarted if there is a time limit
    return {buffer, count > 0 ? static_cast<std::size_t>(count) : 0};
  }
  /// Reads until the peer closes.
  [[nodiscard]] std::string receive() const {
    std::string text;
    for (std::string more = receive_some(); !more.empty(); more = receive_some()) text += more;
    return text;
  }

 private:
  int socket_;
  bool is_open_ = false;
};

}  // namespace skua::test
