// SPDX-License-Identifier: MIT
// Windows does not say which parts of a file are in memory.
#include "base/residency.hpp"

namespace skua::base {

Result<std::size_t> read_resident(int, std::uint64_t, std::span<char>) noexcept {
  return Error(Errc::Unsupported, "read_resident");
}

void start_reading(int, std::uint64_t, std::uint64_t) noexcept {}

int duplicate_file(int) noexcept { return -1; }

}  // namespace skua::base
