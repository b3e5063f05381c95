// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "loop/backend.hpp"
#include "loop/sockets.hpp"

namespace skua::loop {

/// The part that the system took at once.
struct SendOutcome {
  std::size_t count;
  int error;  ///< 0, an errno, or truncated_file
};
/// The file is shorter than the range to be sent. Fits into Handle::in_flight_, as errnos do.
inline constexpr int truncated_file = std::numeric_limits<std::uint16_t>::max();

constexpr bool would_block(int error) noexcept {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

[[nodiscard]] std::size_t total_bytes(std::span<const Slice> slices) noexcept;

/// Sends slices until the socket is full, and counts the system calls.
SendOutcome send_slices(int descriptor, std::span<const Slice> slices,
                        base::Counter& calls) noexcept;

/// Converts a failure of sending.
[[nodiscard]] inline Error send_error(int code) noexcept {
  return code == truncated_file ? Error(Errc::TruncatedBody, "sendfile")
                                : Error::from_system(code, "send");
}

}  // namespace skua::loop
