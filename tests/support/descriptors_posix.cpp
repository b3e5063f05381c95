// SPDX-License-Identifier: MIT
#include "support/descriptors.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace skua::support {

bool is_non_blocking(int descriptor) { return (::fcntl(descriptor, F_GETFL) & O_NONBLOCK) != 0; }

bool is_inherited(int descriptor) { return (::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) == 0; }

bool is_open_socket(int descriptor) { return ::fcntl(descriptor, F_GETFD) >= 0; }

OpenFilesLimit::OpenFilesLimit(std::size_t limit) {
  rlimit limits{};
  ::getrlimit(RLIMIT_NOFILE, &limits);
  before_ = static_cast<std::size_t>(limits.rlim_cur);
  limits.rlim_cur = limit;
  ::setrlimit(RLIMIT_NOFILE, &limits);
}

OpenFilesLimit::~OpenFilesLimit() {
  rlimit limits{};
  ::getrlimit(RLIMIT_NOFILE, &limits);
  limits.rlim_cur = before_;
  ::setrlimit(RLIMIT_NOFILE, &limits);
}

bool make_fifo(const char* path) { return ::mkfifo(path, 0600) == 0; }

}  // namespace skua::support
