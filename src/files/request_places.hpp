// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace skua::files {

/// The number of requests of some kind that may be answered at a time.
class RequestPlaces final {
 public:
  explicit RequestPlaces(std::size_t most)
      : most_(most), taken_(std::make_shared<std::atomic<std::size_t>>(0)) {}

  [[nodiscard]] bool are_any() const noexcept { return most_ != 0; }
  /// Returns a place, which is free again when it is destroyed; nullptr if there is none.
  [[nodiscard]] std::shared_ptr<const void> take() const {
    if (taken_->fetch_add(1) >= most_) {
      taken_->fetch_sub(1);
      return nullptr;
    }
    return {this, [taken = taken_](const void*) { taken->fetch_sub(1); }};
  }

 private:
  std::size_t most_;
  std::shared_ptr<std::atomic<std::size_t>> taken_;  // shared with the places
};

}  // namespace skua::files
