// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

namespace skua::operations {

/// Facts about this process; nullopt if the system does not tell.
struct ProcessFacts {
  std::optional<double> cpu_seconds{};
  std::optional<double> start_seconds{};  ///< since 1970
  std::optional<std::uint64_t> resident_bytes{};
  std::optional<std::uint64_t> virtual_bytes{};
};

/// Asks the system about this process.
class Process final {
 public:
  /// Opens what may not be opened in a sandbox.
  Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  [[nodiscard]] ProcessFacts facts() const noexcept;

 private:
  int memory_file_ = -1;
  double start_seconds_ = 0;
};

}  // namespace skua::operations
