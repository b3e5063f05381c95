// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace skua::support {

/// Whether calls of a socket return at once instead of waiting. Windows cannot tell, so there the
/// socket is tried: it must have nothing to read.
bool is_non_blocking(int descriptor);
/// Whether child processes get a copy of the socket.
bool is_inherited(int descriptor);
/// Whether the descriptor is that of an open socket.
bool is_open_socket(int descriptor);

/// Lowers the limit on open files while it lives. Windows has none.
class OpenFilesLimit {
 public:
  explicit OpenFilesLimit(std::size_t limit);
  OpenFilesLimit(const OpenFilesLimit&) = delete;
  OpenFilesLimit& operator=(const OpenFilesLimit&) = delete;
  ~OpenFilesLimit();

 private:
  std::size_t before_;
};

/// Creates a FIFO. Returns false if the file system has none, as on Windows.
bool make_fifo(const char* path);

}  // namespace skua::support
