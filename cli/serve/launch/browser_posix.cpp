// SPDX-License-Identifier: MIT
#include "serve/launch/browser.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <thread>

#if !defined(__linux__)
extern char** environ;
#endif

namespace skua::cli {
namespace {

#if defined(__APPLE__)
constexpr const char* opener = "open";
#else
constexpr const char* opener = "xdg-open";
#endif

/// The files, signals and session of the new process.
class FreshProcess {
 public:
  FreshProcess() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      ::posix_spawn_file_actions_addopen(&actions_, file, "/dev/null", O_RDWR, 0);
    }
#if defined(__GLIBC__)  // elsewhere, those that were inherited stay open: ours close on exec
#if __GLIBC_PREREQ(2, 34)
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
#endif
#endif
    sigset_t none;
    sigset_t changed;
    sigemptyset(&none);
    sigemptyset(&changed);
    for (const int signal : {SIGPIPE, SIGXFSZ}) sigaddset(&changed, signal);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &changed);
    int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
#if defined(POSIX_SPAWN_SETSID)
    flags |= POSIX_SPAWN_SETSID;  // Ctrl-C is for the server
#endif
    ::posix_spawnattr_setflags(&attributes_, static_cast<short>(flags));
  }
  FreshProcess(const FreshProcess&) = delete;
  FreshProcess& operator=(const FreshProcess&) = delete;
  ~FreshProcess() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  // Returns the system's error; 0 for none.
  int start(const char* program, const std::string& argument, pid_t& process) {
    std::string name = program;
    std::string word = argument;
    std::array<char*, 3> words = {name.data(), word.data(), nullptr};
    return ::posix_spawnp(&process, program, &actions_, &attributes_, words.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

void wait_for(pid_t process) {
  int status = 0;
  pid_t ended = 0;
  do {
    ended = ::waitpid(process, &status, 0);
  } while (ended < 0 && errno == EINTR);
  if (ended != process || !WIFEXITED(status) || WEXITSTATUS(status) == 0) return;
  std::fprintf(stderr, "skua: --open: %s found no browser for this URL (exit code %d)\n", opener,
               WEXITSTATUS(status));
}

}  // namespace

Result<void, Problem> BrowserLauncher::start(const std::string& url) {
  if (url.empty()) {
    return Problem{Error(Errc::Unsupported, "--open"), "--open: no browser opens a Unix socket"};
  }
  pid_t process = -1;
  if (const int code = FreshProcess().start(opener, url, process); code != 0) {
    const Error error = Error::from_system(code, opener);
    return Problem{error, "--open: cannot start " + std::string(opener) + ": " +
                              std::string(message(error.code()))};
  }
  process_ = process;
  return {};
}

// The thread ends with the process, which does not wait for a browser.
void BrowserLauncher::report_failure() const {
  if (process_ > 0) std::thread(wait_for, process_).detach();
}

}  // namespace skua::cli
