// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

#include "loop/loop.hpp"
#include "server/resources.hpp"
#include "skua/address.hpp"
#include "skua/options.hpp"
#include "skua/socket.hpp"

namespace skua::server {

/// Decides for one worker which of its new connections are served: ServerOptions::ip_filter, then
/// ServerOptions::trusted_proxies and ServerOptions::accepts.
class AcceptFilter final {
 public:
  /// All arguments must outlive the object.
  AcceptFilter(const ServerOptions& options, WorkerCounters& counters, loop::Loop& loop) noexcept
      : options_(options), counters_(counters), loop_(loop) {}

  /// Returns the connection if it may be served. Otherwise closes it, counts it and calls the hook,
  /// and returns an invalid socket.
  ///
  /// Ends with: std::bad_alloc.
  [[nodiscard]] Socket admit(Socket connection);

 private:
  /// Returns nullopt if the peer may connect.
  [[nodiscard]] std::optional<ConnectionRefusal> refusal(const Address& peer);
  void log_failure(std::string_view why);

  const ServerOptions& options_;
  WorkerCounters& counters_;
  loop::Loop& loop_;
  loop::Instant quiet_until_{};  // after a failure was logged
};

}  // namespace skua::server
