// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>

#include "server/kept_content.hpp"
#include "skua/config.hpp"
#include "skua/options.hpp"

namespace skua::server {

/// The heads that the requests of an HTTP/2 connection hold, because their handlers may still read
/// them. A few bytes can stand for long fields of the dynamic table, so what they expand to counts.
///
/// A connection holds Limits::head_bytes of its own, as over HTTP/1. The rest comes out of the
/// server's budget.
/// RFC:       9113 §10.5.1
class HeldHeads final {
 public:
  /// Takes `bytes` more. Returns false, and takes nothing, if the budgets do not suffice.
  [[nodiscard]] bool take(const Limits& limits, ContentBudget& budget, std::size_t bytes) noexcept {
    const std::size_t held = held_bytes_ + bytes;
    if (held > limits.head_bytes && !take_beyond(limits, budget, held)) [[unlikely]]
      return false;
    held_bytes_ = held;
    return true;
  }
  void give_back(ContentBudget& budget, std::size_t bytes) noexcept {
    held_bytes_ -= bytes;
    if (charged_bytes_ != 0) [[unlikely]]
      charge_less(budget);
  }

 private:
  SKUA_COLD bool take_beyond(const Limits& limits, ContentBudget& budget,
                             std::size_t held) noexcept {
    if (held > std::max(limits.connection_head_bytes, limits.head_bytes)) return false;
    const std::size_t wanted = held - limits.head_bytes;
    if (wanted <= charged_bytes_) return true;
    if (!budget.take_head(wanted - charged_bytes_)) return false;
    charged_bytes_ = wanted;
    return true;
  }
  // The free part is given up first, so that a connection needs not remember its limit.
  SKUA_COLD void charge_less(ContentBudget& budget) noexcept {
    if (held_bytes_ >= charged_bytes_) return;
    budget.give_back_head(charged_bytes_ - held_bytes_);
    charged_bytes_ = held_bytes_;
  }

  std::size_t held_bytes_ = 0;
  std::size_t charged_bytes_ = 0;  // to the server
};

}  // namespace skua::server
