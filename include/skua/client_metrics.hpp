// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <memory>
#include <string>
#include <vector>

#include "skua/config.hpp"

namespace skua {

class Metrics;

namespace client {
class Meter;
struct MeterAccess;
}  // namespace client

/// Counts what clients do: a handle, whose copies share one state, as do all clients that have it
/// in their options, on whatever thread.
///
/// ```cpp
/// const skua::ClientMetrics payments("payments");
/// skua::collect_clients(*metrics, {payments});
/// router.get("/balance", [payments](skua::Request&) -> skua::Task<skua::Response> {
///   skua::Client client({.base_url = "https://pay.internal", .metrics = payments});
///   ...
/// ```
/// Each exchange counts: a redirect, a challenge and a repeated request, too. WebSockets have
/// connections of their own, which do not. Thread-safe.
class SKUA_API ClientMetrics final {
 public:
  /// `name` is the label `client`, so it has to come from a small set.
  explicit ClientMetrics(std::string name);

  [[nodiscard]] const std::string& name() const noexcept SKUA_LIFETIMEBOUND;

 private:
  friend struct client::MeterAccess;

  std::shared_ptr<client::Meter> meter_;  // shared by the copies, and by clients
};

/// Adds metrics of clients, whose names have to differ. Call it once for an object.
SKUA_API void collect_clients(Metrics& metrics, std::vector<ClientMetrics> clients);

}  // namespace skua
