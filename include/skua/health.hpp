// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "skua/bytes.hpp"
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
  /// Returns why the program is not ready. It may wait for a while: it is called on a thread of its
  /// own, never twice at once.
  using Check = std::function<Result<void, Problem>()>;

  /// The result of a check.
  struct Outcome {
    std::string name{};
    std::string problem{};  ///< empty: it passed
  };

  Health();
  Health(const Health&) = delete;
  Health& operator=(const Health&) = delete;
  /// Waits for checks that have begun, each up to its timeout. One that still runs then is left
  /// behind, so that the program can end.
  ~Health();

  /// From now on, ready only while the server runs: not before its start, nor from the beginning
  /// of its drain on. The server must outlive the object.
  void watch(const Server& server);
  /// Adds a check. An exception counts as a problem, and so does one that has not ended after
  /// `timeout`: it is not begun again before it ends, and fails until then. What it uses should
  /// live as long as the process, or belong to it.
  void check(std::string name, Check check, Duration timeout = std::chrono::seconds(2));

  /// Runs all checks, at the same time, and returns their results in the order in which they were
  /// added; first come the servers. A check that has begun for another call is shared with it.
  ///
  /// Waits for: the checks, each up to its timeout.
  [[nodiscard]] std::vector<Outcome> run() const;

  /// Called with the results of run(). What it throws is dropped.
  using Done = std::function<void(const std::vector<Outcome>&)>;
  /// Like run(), but does not wait: calls `done` once, on another thread. Calls that come while
  /// others wait share their results. The object must not be destroyed by `done`.
  void run(Done done) const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace skua
