// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skua/config.hpp"
#include "skua/error.hpp"

namespace skua {

class Server;

/// Whether a program is ready for requests: its servers accept them, and its own checks pass. Load
/// balancers ask that, see admin_routes(). Thread-safe.
///
/// ```cpp
/// const auto health = std::make_shared<skua::Health>();
/// health->watch(server);
/// health->check("database", [&]() -> skua::Result<void, skua::Problem> { return database.ping();
/// });
/// ```
class SKUA_API Health final {
 public:
  /// Returns why the program is not ready. It may wait for a while: it is called on a thread of
  /// offload(), and several calls may run at once.
  using Check = std::function<Result<void, Problem>()>;

  /// The result of a check.
  struct Outcome {
    std::string name{};
    std::string problem{};  ///< empty: it passed
  };

  /// From now on, ready only while the server runs: not before its start, nor from the beginning
  /// of its drain on. The server must outlive the object.
  void watch(const Server& server);
  /// Adds a check. An exception counts as a problem.
  void check(std::string name, Check check);

  /// Runs all checks, in the order in which they were added; first come the servers.
  ///
  /// Waits for: the checks.
  [[nodiscard]] std::vector<Outcome> run() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<std::string, Check>> checks_;  // guarded by mutex_, like the next
  std::vector<const Server*> servers_;
};

}  // namespace skua
