// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua {

/// When a server refuses requests because it cannot keep up.
struct LoadSheddingOptions {
  /// How long requests may wait for a thread of the server, if that lasts.
  Duration target = 20ms;
  /// For how long no request must have waited less than `target` before any are refused.
  Duration interval = 100ms;
  /// When clients should ask again: Retry-After.
  std::chrono::seconds retry_after{1};
};

/// Refuses requests while a server cannot keep up.
class SKUA_API LoadShedding final {
 public:
  /// See Router::use().
  static constexpr bool ignores_path = true;

  explicit LoadShedding(const LoadSheddingOptions& options);
  std::optional<Response> operator()(Request& request) const;
  /// Returns how many requests were refused, by all copies of this object. Any thread.
  [[nodiscard]] std::uint64_t count() const noexcept { return state_->refused; }

 private:
  struct State {
    LoadSheddingOptions options{};
    std::atomic<std::uint64_t> refused{0};
  };

  std::shared_ptr<State> state_;
};

/// Refuses requests with 503 and Retry-After while the thread that handles them is so busy that
/// they wait too long for it, so that the others are answered in time. Without it, all clients wait
/// longer and longer, until they give up and work is done for nobody.
///
/// ```cpp
/// router.use(skua::load_shedding());
/// ```
/// It goes by the time from a request's arrival to its handler (CoDel: RFC 8289), for each
/// thread of the server; a handler that waits, for a database perhaps, does not keep others
/// waiting. Install it first, so that a refusal costs little, but not on routes for health checks.
///
/// Ends with: std::invalid_argument if a duration is not positive.
[[nodiscard]] inline LoadShedding load_shedding(const LoadSheddingOptions& options = {}) {
  return LoadShedding(options);
}

}  // namespace skua
