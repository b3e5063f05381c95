// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "skua/bytes.hpp"

namespace skua::client {

/// The heads and trailers that the HTTP/2 responses of a client hold. A few bytes can stand for
/// long fields of the dynamic table, so what they expand to counts, as HeadLimits::list_bytes does.
///
/// RFC:       9113 §10.5.1
class HeadBudget final {
 public:
  /// The limits are those of one connection, and of all connections of the client together.
  explicit HeadBudget(std::size_t max_connection_bytes = 16_MiB,
                      std::size_t max_bytes = 64_MiB) noexcept
      : max_connection_bytes_(max_connection_bytes), max_bytes_(max_bytes) {}

  /// Takes `bytes` for a connection that holds `held_bytes`. Returns false, and takes nothing, if
  /// that is too much.
  [[nodiscard]] bool take(std::size_t& held_bytes, std::size_t bytes) noexcept {
    if (bytes > max_connection_bytes_ - held_bytes || bytes > max_bytes_ - held_bytes_)
      return false;
    held_bytes += bytes;
    held_bytes_ += bytes;
    return true;
  }
  void give_back(std::size_t& held_bytes, std::size_t bytes) noexcept {
    held_bytes -= bytes;
    held_bytes_ -= bytes;
  }
  [[nodiscard]] std::size_t held_bytes() const noexcept { return held_bytes_; }

 private:
  const std::size_t max_connection_bytes_;
  const std::size_t max_bytes_;
  std::size_t held_bytes_ = 0;
};

}  // namespace skua::client
