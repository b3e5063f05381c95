// SPDX-License-Identifier: MIT
// A range of a file in, blocks of memory out.
#include "net/append_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace skua::net {
namespace {

// Reads all of it, or fails.
bool read_file(int file, std::uint64_t offset, char* into, std::size_t size_bytes) noexcept {
  while (size_bytes != 0) {
    const ssize_t count = ::pread(file, into, size_bytes, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    into += count;
    offset += static_cast<std::uint64_t>(count);
    size_bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

bool append_file(OutputQueue& output, int file, std::uint64_t offset, std::size_t size_bytes) {
  bool is_fine = true;
  while (size_bytes != 0) {
    const std::size_t count = std::min(size_bytes, OutputQueue::max_reserve);
    char* const room = output.reserve(count);
    is_fine = is_fine && read_file(file, offset, room, count);
    if (!is_fine) std::fill_n(room, count, '\0');
    output.commit(count);
    offset += count;
    size_bytes -= count;
  }
  return is_fine;
}

}  // namespace skua::net
