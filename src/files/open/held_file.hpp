// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "files/safe_path.hpp"

namespace skua::files {

/// Returns how many files responses may hold open, given the process's limit on open files.
constexpr std::size_t held_files_at_most(std::size_t open_files) noexcept {
  return 8 + open_files / 32;
}

/// Returns how many files caches may keep open, all threads together.
constexpr std::size_t kept_files_at_most(std::size_t open_files) noexcept {
  return open_files / 64;
}

/// An open file that is counted until its last owner is gone. The limit on open files is per
/// process, and so are the counts.
class HeldFile final {
 public:
  enum class Holder : std::uint8_t { Response, Cache };

  /// Takes the descriptor; or leaves it and returns null if these holders have their maximum.
  static std::shared_ptr<const HeldFile> take(Descriptor& descriptor, Holder holder);
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;
  ~HeldFile();

  [[nodiscard]] int number() const noexcept { return descriptor_.number(); }

 private:
  HeldFile(Descriptor descriptor, Holder holder) noexcept
      : descriptor_(std::move(descriptor)), holder_(holder) {}

  Descriptor descriptor_;
  Holder holder_;
};

}  // namespace skua::files
