// SPDX-License-Identifier: MIT
// One table, read in both directions: errno for the program, the system's text for people. The C
// library has texts for its oldest errors only.
#include "base/system_text.hpp"

#include <winsock2.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace skua::base {
namespace {

struct Pair {
  unsigned long windows;
  int posix;
};

// If several codes have one errno, the first is the one whose text is shown.
constexpr std::array pairs{
    Pair{WSAEINTR, EINTR},
    Pair{WSAEBADF, EBADF},
    Pair{WSAEACCES, EACCES},
    Pair{WSAEFAULT, EFAULT},
    Pair{WSAEINVAL, EINVAL},
    Pair{WSAEMFILE, EMFILE},
    Pair{WSAEWOULDBLOCK, EAGAIN},
    Pair{WSAEINPROGRESS, EINPROGRESS},
    Pair{WSAEALREADY, EALREADY},
    Pair{WSAENOTSOCK, EBADF},
    Pair{WSAEDESTADDRREQ, EDESTADDRREQ},
    Pair{WSAEMSGSIZE, EMSGSIZE},
    Pair{WSAEPROTOTYPE, EPROTOTYPE},
    Pair{WSAENOPROTOOPT, ENOPROTOOPT},
    Pair{WSAEPROTONOSUPPORT, EPROTONOSUPPORT},
    Pair{WSAESOCKTNOSUPPORT, EPROTONOSUPPORT},
    Pair{WSAEOPNOTSUPP, EOPNOTSUPP},
    Pair{WSAEPFNOSUPPORT, EAFNOSUPPORT},
    Pair{WSAEAFNOSUPPORT, EAFNOSUPPORT},
    Pair{WSAEADDRINUSE, EADDRINUSE},
    Pair{WSAEADDRNOTAVAIL, EADDRNOTAVAIL},
    Pair{WSAENETDOWN, ENETDOWN},
    Pair{WSAENETUNREACH, ENETUNREACH},
    Pair{WSAENETRESET, ENETRESET},
    Pair{WSAECONNABORTED, ECONNABORTED},
    Pair{WSAECONNRESET, ECONNRESET},
    Pair{WSAENOBUFS, ENOBUFS},
    Pair{WSAEISCONN, EISCONN},
    Pair{WSAENOTCONN, ENOTCONN},
    Pair{WSAESHUTDOWN, EPIPE},
    Pair{WSAETIMEDOUT, ETIMEDOUT},
    Pair{WSAECONNREFUSED, ECONNREFUSED},
    Pair{WSAEHOSTDOWN, EHOSTUNREACH},
    Pair{WSAEHOSTUNREACH, EHOSTUNREACH},
    Pair{ERROR_FILE_NOT_FOUND, ENOENT},
    Pair{ERROR_PATH_NOT_FOUND, ENOENT},
    Pair{ERROR_INVALID_NAME, ENOENT},
    Pair{ERROR_BAD_PATHNAME, ENOENT},
    Pair{ERROR_BAD_NETPATH, ENOENT},
    Pair{ERROR_DIRECTORY, ENOTDIR},
    Pair{ERROR_ACCESS_DENIED, EACCES},
    Pair{ERROR_SHARING_VIOLATION, EBUSY},
    Pair{ERROR_LOCK_VIOLATION, EBUSY},
    Pair{ERROR_TOO_MANY_OPEN_FILES, EMFILE},
    Pair{ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
    Pair{ERROR_OUTOFMEMORY, ENOMEM},
    Pair{ERROR_FILE_EXISTS, EEXIST},
    Pair{ERROR_ALREADY_EXISTS, EEXIST},
    Pair{ERROR_INVALID_HANDLE, EBADF},
    Pair{ERROR_INVALID_PARAMETER, EINVAL},
    Pair{ERROR_HANDLE_DISK_FULL, ENOSPC},
    Pair{ERROR_DISK_FULL, ENOSPC},
    Pair{ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
    Pair{ERROR_DIR_NOT_EMPTY, ENOTEMPTY},
    Pair{ERROR_NOT_SUPPORTED, ENOSYS},
    Pair{ERROR_INVALID_FUNCTION, ENOSYS},
    Pair{ERROR_BROKEN_PIPE, EPIPE},
    Pair{ERROR_NO_DATA, EPIPE},
    Pair{ERROR_OPERATION_ABORTED, ECANCELED},
    // Completion ports report these instead of the WSA codes.
    Pair{ERROR_NETNAME_DELETED, ECONNRESET},
    Pair{ERROR_CONNECTION_ABORTED, ECONNABORTED},
    Pair{ERROR_CONNECTION_REFUSED, ECONNREFUSED},
    Pair{ERROR_NETWORK_UNREACHABLE, ENETUNREACH},
    Pair{ERROR_HOST_UNREACHABLE, EHOSTUNREACH},
    Pair{ERROR_SEM_TIMEOUT, ETIMEDOUT},
    Pair{ERROR_GRACEFUL_DISCONNECT, EPIPE},
};

}  // namespace

int errno_of(unsigned long windows_code) noexcept {
  if (windows_code == 0) return 0;
  for (const Pair& pair : pairs) {
    if (pair.windows == windows_code) return pair.posix;
  }
  return EIO;
}

int fail_as_posix() noexcept {
  errno = errno_of(::GetLastError());  // WSAGetLastError() returns the same variable
  return -1;
}

std::string system_text(int code) {
  for (const Pair& pair : pairs) {
    if (pair.posix != code) continue;
    std::string text = std::system_category().message(static_cast<int>(pair.windows));
    while (!text.empty() && (text.back() == '.' || text.back() == '\n' || text.back() == '\r')) {
      text.pop_back();
    }
    return text;
  }
  return std::generic_category().message(code);
}

}  // namespace skua::base
