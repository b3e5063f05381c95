// SPDX-License-Identifier: MIT
// A regular file takes each write as a whole. Pipes, terminals and sockets may have readers that
// stall: they are asked first, and get no more than a pipe takes at once.
#include "operations/log_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <system_error>
#include <utility>

#include "loop/sockets.hpp"

namespace skua::operations {
namespace {

#if defined(O_PATH)
constexpr int for_folders = O_PATH | O_DIRECTORY | O_CLOEXEC;
#else
constexpr int for_folders = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
#endif
// Does not wait for the reader of a pipe.
constexpr int for_logs = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
constexpr mode_t log_mode = 0640;
constexpr int moment_ms = 10;

Problem log_problem(const std::string& path, int why) {
  return {Error::from_system(why, "the access log"),
          "cannot open " + path + ": " + std::generic_category().message(why)};
}

}  // namespace

Result<LogFile, Problem> LogFile::open(const std::string& path,
                                       const std::optional<FileOwner>& owner) {
  LogFile made;
  made.name_ = path;
  if (path == "-") {
    made.name_ = "standard output";
    made.file_ = disk::Descriptor(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!made.file_) return log_problem(made.name_, errno);
    made.look_at_kind();
    return made;
  }
  const std::size_t begin = disk::name_begin(path);
  const std::string folder = begin == 0 ? "." : path.substr(0, begin);
  made.folder_ = disk::Descriptor(::open(folder.c_str(), for_folders));
  if (!made.folder_) return log_problem(path, errno);
  made.file_name_ = path.substr(begin);
  if (made.file_name_.empty()) return log_problem(path, EISDIR);
  if (auto opened = made.open_by_name(owner); !opened) {
    return log_problem(path, opened.error().system_code());
  }
  return made;
}

Result<void> LogFile::reopen() {
  if (file_name_.empty() || kind_ != Kind::File) return {};
  return open_by_name({});
}

Result<void> LogFile::open_by_name(const std::optional<FileOwner>& owner) {
  const int folder = folder_.number();
  const char* const name = file_name_.c_str();
  disk::Descriptor opened(::openat(folder, name, for_logs | O_CREAT | O_EXCL, log_mode));
  if (opened && owner && ::fchown(opened.number(), owner->user, owner->group) != 0) {
    return Error::from_system(errno, "the access log");
  }
  if (!opened && errno == EEXIST) {
    opened = disk::Descriptor(::openat(folder, name, for_logs));  // makes nothing behind a link
  }
  if (!opened) return Error::from_system(errno, "the access log");
  file_ = std::move(opened);
  look_at_kind();
  return {};
}

void LogFile::look_at_kind() {
  struct stat about{};
  const bool is_known = ::fstat(file_.number(), &about) == 0;
  kind_ = is_known && S_ISREG(about.st_mode)    ? Kind::File
          : is_known && S_ISSOCK(about.st_mode) ? Kind::Socket
                                                : Kind::Other;
}

void LogFile::block_signals() noexcept {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  sigaddset(&signals, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

Result<std::size_t> LogFile::write_some(std::string_view bytes,
                                        std::chrono::milliseconds patience) {
  const int file = file_.number();
  if (kind_ != Kind::File) {
    pollfd wanted{.fd = file, .events = POLLOUT, .revents = 0};
    if (::poll(&wanted, 1, static_cast<int>(patience.count())) <= 0) return std::size_t{0};
    bytes = bytes.substr(0, PIPE_BUF);
    const std::size_t end = bytes.rfind('\n');  // whole lines, if others write, too
    if (end != bytes.npos) bytes = bytes.substr(0, end + 1);
  }
  const ssize_t count = kind_ == Kind::Socket ? ::send(file, bytes.data(), bytes.size(),
                                                       MSG_DONTWAIT | bsd::no_signal)
                                              : ::write(file, bytes.data(), bytes.size());
  if (count > 0) return static_cast<std::size_t>(count);
  if (count < 0 && errno == EINTR) return std::size_t{0};
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    ::poll(nullptr, 0, moment_ms);  // less room than poll() promised
    return std::size_t{0};
  }
  return Error::from_system(count < 0 ? errno : EIO, "the access log");
}

bool LogFile::is_terminal() const noexcept { return ::isatty(file_.number()) == 1; }

}  // namespace skua::operations
