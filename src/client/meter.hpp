// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "client/request_spec.hpp"
#include "skua/bytes.hpp"
#include "skua/client_metrics.hpp"
#include "skua/error.hpp"

namespace skua::client {

/// The metrics of clients, as those clients see them: an interface, so that programs without
/// metrics link none. Thread-safe.
class Meter {
 public:
  /// The things that are counted up and down.
  enum class Gauge : std::uint8_t {
    Open,        ///< connections; each that begins is also counted
    Idle,        ///< those of them that nobody uses
    Connecting,  ///< connections that are being made
    Waiting,     ///< requests that wait for a connection
  };

  Meter() = default;
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;
  virtual ~Meter() = default;

  virtual void more(Gauge gauge) noexcept = 0;
  virtual void fewer(Gauge gauge) noexcept = 0;
  /// A request no longer waits for a connection: it has one, makes one, or gave up.
  virtual void waited(Duration time) noexcept = 0;
  /// A request got a connection that has served another one before.
  virtual void reused() noexcept = 0;
  /// A new connection is encrypted.
  virtual void secured(bool is_resumed) noexcept = 0;
  /// The head of a response has arrived, this long after the request began.
  virtual void responded(std::uint16_t status, Duration time) noexcept = 0;
  /// There will be no response.
  virtual void failed(Error error, const Reached& reached) noexcept = 0;
  virtual void cancelled() noexcept = 0;
  /// The content of a response broke off.
  virtual void cut() noexcept = 0;
};

struct MeterAccess {
  /// Null: nobody counts.
  static Meter* of(const std::optional<ClientMetrics>& metrics) noexcept {
    return metrics ? metrics->meter_.get() : nullptr;
  }
  static const Meter& of(const ClientMetrics& metrics) noexcept { return *metrics.meter_; }
};

}  // namespace skua::client
