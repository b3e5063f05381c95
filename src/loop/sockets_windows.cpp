// SPDX-License-Identifier: MIT
// Winsock differs from POSIX:
// - Winsock has to be started: the calls that come first in each use do that, once.
// - Sizes are 32 bits, so a long receive takes only the first part.
// - A socket that takes anything takes everything, however long, into the kernel's memory. So a
//   long send takes only the first part.
// - connect() says WSAEWOULDBLOCK for POSIX's EINPROGRESS.
// - SO_REUSEADDR on a stream socket would let others take over the port of a running server, and a
//   server can be restarted without it, so setting it does nothing.
// - WSAPoll reports POLLNVAL for entries that are to be ignored.
#include "loop/sockets.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <span>

#include "base/system_text.hpp"
#include "base/wide_text.hpp"

namespace skua::bsd {
namespace {

constexpr std::size_t max_bytes = INT_MAX;
constexpr std::size_t max_send_bytes = 1024 * 1024;
constexpr std::size_t max_pieces = 64;

bool start() noexcept {
  static const bool is_started = [] {
    WSADATA data;
    return ::WSAStartup(MAKEWORD(2, 2), &data) == 0;
  }();
  return is_started;
}

int result_of(int result) noexcept { return result == 0 ? 0 : base::fail_as_posix(); }

ssize_t count_of(int count) noexcept { return count >= 0 ? count : base::fail_as_posix(); }

int narrowed(SOCKET socket) noexcept {
  if (socket == INVALID_SOCKET) return base::fail_as_posix();
  if (socket <= static_cast<SOCKET>(INT_MAX)) return static_cast<int>(socket);
  ::closesocket(socket);
  errno = EMFILE;
  return -1;
}

bool is_stream(int descriptor) noexcept {
  int type = 0;
  socklen_t size_bytes = sizeof type;
  return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size_bytes) == 0 &&
         type == SOCK_STREAM;
}

using Pieces = std::array<WSABUF, max_pieces>;

// Returns how many pieces it has made, of at most `room` bytes altogether.
DWORD gather(const msghdr& message, Pieces& pieces, std::size_t room) noexcept {
  const std::size_t count = std::min(message.msg_iovlen, pieces.size());
  DWORD made = 0;
  for (; made < count && room > 0; ++made) {
    const iovec& piece = message.msg_iov[made];
    const std::size_t size_bytes = std::min(piece.iov_len, room);
    pieces[made].buf = static_cast<char*>(piece.iov_base);
    pieces[made].len = static_cast<ULONG>(size_bytes);
    room -= size_bytes;
  }
  return made;
}

}  // namespace

int open(int domain, int type) noexcept {
  if (!start()) {
    errno = ENETDOWN;
    return -1;
  }
  const int descriptor = narrowed(
      ::WSASocketW(domain, type, 0, nullptr, 0, WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT));
  if (descriptor >= 0) static_cast<void>(set_blocking(descriptor, false));
  return descriptor;
}

int accept(int listener, sockaddr* address, socklen_t* size_bytes) noexcept {
  return narrowed(::accept(native(listener), address, size_bytes));
}

int accept_one(int listener) noexcept {
  const int descriptor = accept(listener, nullptr, nullptr);
  if (descriptor >= 0) static_cast<void>(set_flags(descriptor));
  return descriptor;
}

int set_flags(int descriptor) noexcept {
  ::SetHandleInformation(reinterpret_cast<HANDLE>(native(descriptor)), HANDLE_FLAG_INHERIT, 0);
  return set_blocking(descriptor, false);
}

int duplicate(int descriptor) noexcept {
  WSAPROTOCOL_INFOW info;
  if (::WSADuplicateSocketW(native(descriptor), ::GetCurrentProcessId(), &info) != 0) {
    return base::fail_as_posix();
  }
  return narrowed(::WSASocketW(FROM_PROTOCOL_INFO, FROM_PROTOCOL_INFO, FROM_PROTOCOL_INFO, &info, 0,
                               WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT));
}

int set_blocking(int descriptor, bool is_blocking) noexcept {
  u_long is_non_blocking = is_blocking ? 0 : 1;
  return result_of(::ioctlsocket(native(descriptor), static_cast<long>(FIONBIO), &is_non_blocking));
}

int claim_port(int descriptor) noexcept {
  const int on = 1;
  return setsockopt(descriptor, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, &on, sizeof on);
}

int open_reserve() noexcept { return open(AF_INET, SOCK_DGRAM); }

int set_send_timeout(int descriptor, std::chrono::microseconds timeout) noexcept {
  const auto value =
      static_cast<DWORD>(std::chrono::ceil<std::chrono::milliseconds>(timeout).count());
  return setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &value, sizeof value);
}

// getsockname() fails before bind().
bool is_ipv6(int descriptor) noexcept {
  WSAPROTOCOL_INFOW info{};
  socklen_t size_bytes = sizeof info;
  return getsockopt(descriptor, SOL_SOCKET, SO_PROTOCOL_INFOW, &info, &size_bytes) == 0 &&
         info.iAddressFamily == AF_INET6;
}

// Windows takes an index as an address of the network 0.0.0.0/8.
int set_ipv4_multicast_interface(int descriptor, unsigned index) noexcept {
  const DWORD value = htonl(index);
  return setsockopt(descriptor, IPPROTO_IP, IP_MULTICAST_IF, &value, sizeof value);
}

ssize_t send_file(int /*descriptor*/, int /*file*/, std::uint64_t /*offset*/,
                  std::size_t /*size_bytes*/) noexcept {
  errno = ENOSYS;  // TransmitFile blocks, or completes later
  return -1;
}

void block_sigpipe() noexcept {}  // Windows has no such signal

bool is_socket_file(const std::string& path) noexcept {
  WIN32_FIND_DATAW found;
  const HANDLE search = ::FindFirstFileW(base::widen(path).c_str(), &found);
  if (search == INVALID_HANDLE_VALUE) return false;
  ::FindClose(search);
  constexpr DWORD unix_socket_tag = 0x80000023;  // IO_REPARSE_TAG_AF_UNIX
  return (found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 &&
         found.dwReserved0 == unix_socket_tag;
}

// gai_strerror() would format the text into a buffer that all threads share.
const char* lookup_failure_text(int failure) noexcept {
  switch (failure) {
    case EAI_NONAME: return "the name is not known";
    case EAI_AGAIN: return "no name server answered";
    default: return "the lookup failed";
  }
}

std::string hosts_file() {
  std::wstring folder(MAX_PATH, L'\0');
  folder.resize(::GetSystemDirectoryW(folder.data(), static_cast<UINT>(folder.size())));
  return base::narrow(folder) + "\\drivers\\etc\\hosts";
}

std::string machine_name() {
  std::array<wchar_t, 256> name{};
  auto size = static_cast<DWORD>(name.size());
  if (::GetComputerNameExW(ComputerNameDnsHostname, name.data(), &size) == 0) return {};
  return base::narrow({name.data(), size});
}

// Another process might connect to the listener first: only a connection from our own socket
// counts.
int pair(std::array<int, 2>& ends) noexcept {
  const int listener = open(AF_INET, SOCK_STREAM);
  ends[1] = open(AF_INET, SOCK_STREAM);
  ends[0] = -1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size_bytes = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  sockaddr_in ours{};
  sockaddr_in theirs{};
  const bool is_connected =
      listener >= 0 && ends[1] >= 0 && bind(listener, generic, size_bytes) == 0 &&
      listen(listener, 1) == 0 && getsockname(listener, generic, &size_bytes) == 0 &&
      set_blocking(listener, true) == 0 && set_blocking(ends[1], true) == 0 &&
      connect(ends[1], generic, size_bytes) == 0 && (ends[0] = accept_one(listener)) >= 0 &&
      set_blocking(ends[1], false) == 0 &&
      getsockname(ends[1], reinterpret_cast<sockaddr*>(&ours), &size_bytes) == 0 &&
      getpeername(ends[0], reinterpret_cast<sockaddr*>(&theirs), &size_bytes) == 0;
  const int error = errno;
  close(listener);
  if (is_connected && ours.sin_port == theirs.sin_port) return 0;
  close(ends[0]);
  close(ends[1]);
  errno = is_connected ? ECONNABORTED : error;
  return -1;
}

int bind(int descriptor, const sockaddr* address, socklen_t size_bytes) noexcept {
  return result_of(::bind(native(descriptor), address, size_bytes));
}

int close(int descriptor) noexcept { return result_of(::closesocket(native(descriptor))); }

int connect(int descriptor, const sockaddr* address, socklen_t size_bytes) noexcept {
  if (::connect(native(descriptor), address, size_bytes) == 0) return 0;
  static_cast<void>(base::fail_as_posix());
  if (errno == EAGAIN) errno = EINPROGRESS;
  return -1;
}

int getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                addrinfo** found) noexcept {
  return start() ? ::getaddrinfo(node, service, hints, found) : EAI_FAIL;
}

int getpeername(int descriptor, sockaddr* address, socklen_t* size_bytes) noexcept {
  return result_of(::getpeername(native(descriptor), address, size_bytes));
}

int getsockname(int descriptor, sockaddr* address, socklen_t* size_bytes) noexcept {
  return result_of(::getsockname(native(descriptor), address, size_bytes));
}

int getsockopt(int descriptor, int level, int name, void* value, socklen_t* size_bytes) noexcept {
  if (result_of(::getsockopt(native(descriptor), level, name, static_cast<char*>(value),
                             size_bytes)) != 0) {
    return -1;
  }
  if (level == SOL_SOCKET && name == SO_ERROR) {
    int& error = *static_cast<int*>(value);
    error = base::errno_of(static_cast<unsigned long>(error));
  }
  return 0;
}

int listen(int descriptor, int backlog) noexcept {
  return result_of(::listen(native(descriptor), backlog));
}

int poll(pollfd* entries, nfds_t count, int timeout) noexcept {
  if (::WSAPoll(entries, count, timeout) < 0) return base::fail_as_posix();
  int ready = 0;
  for (pollfd& entry : std::span(entries, count)) {
    if (entry.fd == INVALID_SOCKET) entry.revents = 0;
    if (entry.revents != 0) ++ready;
  }
  return ready;
}

ssize_t recv(int descriptor, void* bytes, std::size_t size_bytes, int flags) noexcept {
  const auto room = static_cast<int>(std::min(size_bytes, max_bytes));
  return count_of(::recv(native(descriptor), static_cast<char*>(bytes), room, flags));
}

ssize_t recvmsg(int descriptor, msghdr* message, int flags) noexcept {
  Pieces pieces;
  const DWORD count = gather(*message, pieces, max_bytes);
  auto windows_flags = static_cast<DWORD>(flags);
  DWORD received = 0;
  const int result = ::WSARecvFrom(native(descriptor), pieces.data(), count, &received,
                                   &windows_flags, static_cast<sockaddr*>(message->msg_name),
                                   &message->msg_namelen, nullptr, nullptr);
  message->msg_flags = 0;
  if (result == 0) return static_cast<ssize_t>(received);
  // POSIX succeeds with a datagram that does not fit, and marks it.
  if (::WSAGetLastError() != WSAEMSGSIZE) return base::fail_as_posix();
  message->msg_flags = MSG_TRUNC;
  ssize_t room = 0;
  for (DWORD i = 0; i < count; ++i) room += static_cast<ssize_t>(pieces[i].len);
  return room;
}

ssize_t send(int descriptor, const void* bytes, std::size_t size_bytes, int flags) noexcept {
  const auto size = static_cast<int>(std::min(size_bytes, max_send_bytes));
  return count_of(::send(native(descriptor), static_cast<const char*>(bytes), size, flags));
}

ssize_t sendmsg(int descriptor, const msghdr* message, int flags) noexcept {
  Pieces pieces;
  const DWORD count = gather(*message, pieces, max_send_bytes);
  DWORD sent = 0;
  if (::WSASend(native(descriptor), pieces.data(), count, &sent, static_cast<DWORD>(flags), nullptr,
                nullptr) != 0) {
    return base::fail_as_posix();
  }
  return static_cast<ssize_t>(sent);
}

ssize_t sendto(int descriptor, const void* bytes, std::size_t size_bytes, int flags,
               const sockaddr* address, socklen_t address_bytes) noexcept {
  const auto size = static_cast<int>(std::min(size_bytes, max_bytes));
  return count_of(::sendto(native(descriptor), static_cast<const char*>(bytes), size, flags,
                           address, address_bytes));
}

int setsockopt(int descriptor, int level, int name, const void* value,
               socklen_t size_bytes) noexcept {
  if (level == SOL_SOCKET && name == SO_REUSEADDR && is_stream(descriptor)) return 0;
  return result_of(
      ::setsockopt(native(descriptor), level, name, static_cast<const char*>(value), size_bytes));
}

int shutdown(int descriptor, int how) noexcept {
  return result_of(::shutdown(native(descriptor), how));
}

}  // namespace skua::bsd
