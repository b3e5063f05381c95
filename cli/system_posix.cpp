// SPDX-License-Identifier: MIT
#include "system.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <system_error>

#include "base/disk.hpp"

#if !defined(__linux__)
extern char** environ;
#endif

namespace skua::cli {

// A held descriptor has a mode that still makes reads or writes fail. A closed pipe or a file size
// limit is an error of the write, not the end of the program.
void prepare_process() noexcept {
  for (const int descriptor : {standard_input, standard_output, standard_error}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // open() returns the lowest free number: this one.
    (void)!::open("/dev/null", descriptor == standard_input ? O_WRONLY : O_RDONLY);
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

std::vector<std::string> arguments_of(int count, char** arguments) {
  return {arguments, arguments + count};
}

bool is_terminal(int descriptor) noexcept { return ::isatty(descriptor) == 1; }

std::size_t terminal_columns(int descriptor) noexcept {
  winsize size{};
  const bool is_known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
  return is_known ? size.ws_col : 80;
}

bool can_write(int descriptor) noexcept {
  pollfd wanted{.fd = descriptor, .events = POLLOUT, .revents = 0};
  return ::poll(&wanted, 1, 0) > 0 && (wanted.revents & POLLOUT) != 0;
}

// No group: the terminal belongs to another session.
bool is_in_foreground(int terminal) noexcept {
  static const pid_t own = ::getpgrp();
  const pid_t group = ::tcgetpgrp(terminal);
  return group < 0 || group == own;
}

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {  // made non-blocking by another process
      pollfd wanted{.fd = descriptor, .events = POLLOUT, .revents = 0};
      ::poll(&wanted, 1, -1);
      continue;
    }
    if (count < 0) {
      throw std::system_error(errno, std::generic_category(), "cannot write the output");
    }
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

int open_output(const std::string& path) noexcept {
  return ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
}

bool is_same_file(const std::string& path, int descriptor) noexcept {
  struct stat named{};
  struct stat opened{};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(descriptor, &opened) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

bool wait_for_input(std::chrono::milliseconds patience, int stop) noexcept {
  std::array<pollfd, 2> wanted{pollfd{.fd = standard_input, .events = POLLIN, .revents = 0},
                               pollfd{.fd = stop, .events = POLLIN, .revents = 0}};
  const auto wait = static_cast<int>(std::clamp<std::int64_t>(patience.count(), -1, INT_MAX));
  int ready = 0;
  do {
    ready = ::poll(wanted.data(), wanted.size(), wait);
  } while (ready < 0 && errno == EINTR);
  return ready > 0 && wanted[1].revents == 0;
}

bool has_unread_input() noexcept {
  struct stat about{};
  if (::fstat(standard_input, &about) != 0) return false;
  if (S_ISREG(about.st_mode)) return ::lseek(standard_input, 0, SEEK_CUR) < about.st_size;
  int size_bytes = 0;
  const bool is_pipe = S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode);
  return is_pipe && ::ioctl(standard_input, FIONREAD, &size_bytes) == 0 && size_bytes > 0;
}

std::vector<std::string> environment_names(std::string_view prefix) {
  std::vector<std::string> names;
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) {
    const std::string_view text(*one);
    const std::string_view name = text.substr(0, text.find('='));
    if (name.starts_with(prefix)) names.emplace_back(name);
  }
  return names;
}

// XDG Base Directory Specification: a relative path counts as none.
std::string settings_folder() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value != nullptr && *value == '/' ? value : "");
  };
  const std::string folder = variable("XDG_CONFIG_HOME");
  if (!folder.empty()) return folder + "/skua";
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.config/skua";
}

bool make_private_folder(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    if (::mkdir(path.substr(0, end).c_str(), S_IRWXU) != 0 && errno != EEXIST) return false;
    if (end == path.npos) return true;
  }
}

std::string resolved(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? std::string(real.get()) : path;
}

}  // namespace skua::cli
