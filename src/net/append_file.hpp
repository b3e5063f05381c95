// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "net/output_queue.hpp"

namespace skua::net {

/// Reads a range of a file into the output, for protocols that frame what they send.
///
/// Ends with: false where the file has not so many bytes, or cannot be read: the rest of them are
///            zeros then.
bool append_file(OutputQueue& output, int file, std::uint64_t offset, std::size_t size_bytes);

}  // namespace skua::net
