// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace skua::growing {

/// An operation among many others of its kind.
class Load {
 public:
  Load() = default;
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  virtual ~Load() = default;

  /// Does it once. The number of others stays the same.
  virtual void operate() = 0;
};

struct Scenario {
  const char* name;
  std::unique_ptr<Load> (*make)(std::size_t others);
};

template <class T>
std::unique_ptr<Load> make(std::size_t others) {
  return std::make_unique<T>(others);
}

std::span<const Scenario> task_scenarios();
std::span<const Scenario> client_scenarios();
std::span<const Scenario> server_scenarios();

}  // namespace skua::growing
