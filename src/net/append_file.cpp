// SPDX-License-Identifier: MIT
// A range of a file in, blocks of memory out.
#include "net/append_file.hpp"

#include <algorithm>

#include "base/read_at.hpp"

namespace skua::net {

bool append_file(OutputQueue& output, int file, std::uint64_t offset, std::size_t size_bytes) {
  bool is_fine = true;
  while (size_bytes != 0) {
    const std::size_t count = std::min(size_bytes, OutputQueue::max_reserve);
    char* const room = output.reserve(count);
    is_fine = is_fine && base::read_at(file, offset, {room, count}).value_or(0U) == count;
    if (!is_fine) std::fill_n(room, count, '\0');
    output.commit(count);
    offset += count;
    size_bytes -= count;
  }
  return is_fine;
}

}  // namespace skua::net
