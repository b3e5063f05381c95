// SPDX-License-Identifier: MIT
#include "support/descriptors.hpp"

#include <cerrno>

#include "loop/sockets.hpp"

namespace skua::support {

bool is_non_blocking(int descriptor) {
  char byte = 0;
  return bsd::recv(descriptor, &byte, 1, MSG_PEEK) >= 0 || errno == EAGAIN || errno == ENOTCONN;
}

bool is_inherited(int descriptor) {
  DWORD flags = 0;
  ::GetHandleInformation(reinterpret_cast<HANDLE>(bsd::native(descriptor)), &flags);
  return (flags & HANDLE_FLAG_INHERIT) != 0;
}

bool is_open_socket(int descriptor) {
  int type = 0;
  socklen_t size_bytes = sizeof type;
  return bsd::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size_bytes) == 0;
}

OpenFilesLimit::OpenFilesLimit(std::size_t limit) : before_(limit) {}

OpenFilesLimit::~OpenFilesLimit() = default;

bool make_fifo(const char* /*path*/) { return false; }

}  // namespace skua::support
