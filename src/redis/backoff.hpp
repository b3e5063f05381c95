// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <new>

#include "crypto/random.hpp"
#include "skua/bytes.hpp"

namespace skua::redis {

/// The pauses between attempts: each twice as long as the one before, up to a maximum, less a
/// random part of up to a half, so that clients that lost a server together do not come back
/// together.
class Backoff final {
 public:
  Backoff(Duration first, Duration longest) noexcept
      : first_(first), longest_(longest), next_(first) {}

  [[nodiscard]] Duration next() noexcept {
    const Duration whole = next_;
    next_ = next_ > longest_ / 2 ? longest_ : next_ * 2;
    const auto half = static_cast<std::uint64_t>(whole.count() / 2);
    try {
      return whole - Duration(static_cast<Duration::rep>(crypto::random_word() % (half + 1)));
    } catch (const std::bad_alloc&) {  // by the first random number of a thread
      return whole;
    }
  }
  void reset() noexcept { next_ = first_; }

 private:
  Duration first_;
  Duration longest_;
  Duration next_;
};

}  // namespace skua::redis
