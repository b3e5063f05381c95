// SPDX-License-Identifier: MIT
// In: a command and sockets. Out: a process that serves, or a reason why there is none.
// The process learns its own id from LISTEN_PID, so the environment is completed after fork().
// Other threads may hold any lock then: between fork() and execve(), only system calls are made.
#include "service/successor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/disk.hpp"
#include "loop/clock.hpp"
#include "net/problem.hpp"
#include "net/socket.hpp"

#if !defined(__linux__)
extern char** environ;
#endif

namespace skua::service {
namespace {

constexpr int first_descriptor = 3;  // SD_LISTEN_FDS_START
constexpr std::string_view digits = "0000000000";
constexpr auto time_between_questions = std::chrono::milliseconds(100);
constexpr char exec_failed = 'E';  // and the error's number; a program that is ready writes READY=1

constexpr std::array<std::string_view, 7> own_variables = {
    "LISTEN_PID=",    "LISTEN_FDS=",   "LISTEN_FDNAMES=", "NOTIFY_SOCKET=",
    "WATCHDOG_USEC=", "WATCHDOG_PID=", "SKUA_READY="};

Problem problem(Errc code, std::string text) { return {Error(code, "hand over"), std::move(text)}; }

/// Returns the path of a program, which is looked for in the folders of PATH if it is a name.
std::string path_of(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* const variable = std::getenv("PATH");
  std::string_view folders = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    std::string path(end == 0 ? "." : folders.substr(0, end));
    path.append("/").append(program);
    if (::access(path.c_str(), X_OK) == 0) return path;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return program;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// All that the new process needs, made beforehand.
class Launch {
 public:
  Launch(const Successor& successor, int pipe)
      : path_(path_of(successor.command.front())),
        words_(successor.command),
        variables_(environment(successor)),
        arguments_(pointers_to(words_)),
        environment_(pointers_to(variables_)) {
    for (const ListeningSocket& listener : successor.sockets) {
      descriptors_.push_back(listener.socket->descriptor());
    }
    descriptors_.push_back(pipe);
    for (std::string& variable : variables_) {
      const bool has_id =
          variable.starts_with("LISTEN_PID=") || variable.starts_with("SKUA_READY=");
      if (has_id) process_ids_.push_back(variable.data() + variable.size() - digits.size());
    }
  }

  /// Becomes the program, in the new process.
  [[noreturn]] void become() noexcept {
    const int failure = try_to_become();
    std::array<char, 1 + sizeof failure> told{exec_failed};
    std::memcpy(told.data() + 1, &failure, sizeof failure);
    const int pipe = descriptors_.back();
    static_cast<void>(!::write(pipe, told.data(), told.size()));
    ::_exit(127);
  }

 private:
  static std::vector<std::string> environment(const Successor& successor) {
    std::vector<std::string> all;
    for (char* const* variable = environ; *variable != nullptr; ++variable) {
      const std::string_view text(*variable);
      const auto begins = [text](std::string_view name) { return text.starts_with(name); };
      if (std::ranges::none_of(own_variables, begins)) all.emplace_back(text);
    }
    all.insert(all.end(), successor.variables.begin(), successor.variables.end());
    const std::size_t count = successor.sockets.size();
    std::string names = "LISTEN_FDNAMES=";
    for (const ListeningSocket& listener : successor.sockets) {
      std::string name(listener.owns_path ? net::own_socket_name : "");
      if (!name.empty() && !listener.name.empty()) name += '-';
      name += listener.name;
      std::ranges::replace(name, ':', '_');
      names.append(name).push_back(':');
    }
    if (names.ends_with(':')) names.pop_back();
    all.push_back(std::move(names));
    all.push_back("LISTEN_FDS=" + std::to_string(count));
    all.push_back("LISTEN_PID=" + std::string(digits));
    all.push_back("SKUA_READY=" + std::to_string(first_descriptor + count) + ":" +
                  std::string(digits));
    return all;
  }

  // Moves the descriptors out of the way first: one may be where another one belongs.
  int try_to_become() noexcept {
    const int above = first_descriptor + static_cast<int>(descriptors_.size());
    for (int& descriptor : descriptors_) {
      descriptor = ::fcntl(descriptor, F_DUPFD_CLOEXEC, above);
      if (descriptor < 0) return errno;
    }
    int place = first_descriptor;
    for (int& descriptor : descriptors_) {
      if (::dup2(descriptor, place) < 0) return errno;
      descriptor = place++;
    }
    write_process_id();
    sigset_t none;
    sigemptyset(&none);
    std::signal(SIGPIPE, SIG_DFL);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execve(path_.c_str(), arguments_.data(), environment_.data());
    return errno;
  }

  // Each place is the end of its variable, and as long as the longest number.
  void write_process_id() noexcept {
    std::array<char, digits.size()> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), ::getpid());
    const auto size = static_cast<std::size_t>(end - text.data());
    for (char* const place : process_ids_) {
      std::memcpy(place, text.data(), size);
      place[size] = '\0';
    }
  }

  const std::string path_;
  std::vector<std::string> words_;
  std::vector<std::string> variables_;
  std::vector<char*> arguments_;
  std::vector<char*> environment_;
  std::vector<int> descriptors_;    // to be at 3, 4, ...; the last one is the pipe
  std::vector<char*> process_ids_;  // where the digits belong, at the ends of variables
};

/// Waits for the end of a process, and returns `it ended with exit code 1`.
std::string end_of(pid_t process) {
  int status = 0;
  pid_t ended = 0;
  do {
    ended = ::waitpid(process, &status, 0);
  } while (ended < 0 && errno == EINTR);
  if (ended != process) return "it has ended";  // somebody else has waited for it
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status)) + " ended it";
  return "it ended with exit code " + std::to_string(WEXITSTATUS(status));
}

Problem give_up(pid_t process, Errc code, const std::string& why) {
  ::kill(process, SIGKILL);
  static_cast<void>(end_of(process));
  return problem(code, "the new process was not ready: " + why);
}

std::string seconds_text(Duration time) {
  const auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  return std::to_string(whole / 1000) + "." + std::to_string(whole % 1000 / 100) + " s";
}

/// Reads what the new process says, until that is enough.
Result<int, Problem> wait_until_ready(pid_t process, int pipe, const Successor& successor) {
  const auto end = later(std::chrono::steady_clock::now(), successor.deadline);
  std::string said;
  while (true) {
    if (successor.is_unwanted && successor.is_unwanted()) {
      return give_up(process, Errc::Cancelled, "this one was told to end");
    }
    if (std::chrono::steady_clock::now() >= end) {
      return give_up(process, Errc::TimedOut,
                     "it took longer than " + seconds_text(successor.deadline));
    }
    pollfd ready{pipe, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(time_between_questions.count())) <= 0) continue;
    std::array<char, 64> buffer;
    const ssize_t count = ::read(pipe, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    said.append(buffer.data(), static_cast<std::size_t>(count));
    if (said.starts_with("READY=1\n")) return process;
  }
  int code = 0;
  if (said.size() == 1 + sizeof code && said.front() == exec_failed) {
    std::memcpy(&code, said.data() + 1, sizeof code);
    static_cast<void>(end_of(process));
    return net::could_not("start", successor.command.front(), Error::from_system(code, "execve"));
  }
  ::kill(process, SIGKILL);  // if it has only closed the pipe
  return problem(Errc::SystemFailure, "the new process was not ready: " + end_of(process));
}

}  // namespace

Result<int, Problem> start(const Successor& successor) {
  std::array<int, 2> ends{};
#if defined(__linux__)
  const int made = ::pipe2(ends.data(), O_CLOEXEC);
#else
  const int made = ::pipe(ends.data());
#endif
  if (made != 0) {
    return net::could_not("start", successor.command.front(), Error::from_system(errno, "pipe"));
  }
  const disk::Descriptor read_end(ends[0]);
  disk::Descriptor write_end(ends[1]);
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  Launch launch(successor, write_end.number());
  const pid_t process = ::fork();
  if (process < 0) {
    return net::could_not("start", successor.command.front(), Error::from_system(errno, "fork"));
  }
  if (process == 0) launch.become();
  write_end = disk::Descriptor();
  return wait_until_ready(process, read_end.number(), successor);
}

Result<std::vector<std::string>, Problem> own_command() {
  std::vector<std::string> words;
#if defined(__linux__)
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
#endif
  if (!words.empty()) return words;
  return problem(Errc::Unsupported,
                 "the command of this process is not known: set ServiceOptions::command");
}

}  // namespace skua::service
