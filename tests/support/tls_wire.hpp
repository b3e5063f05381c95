// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "skua/tls.hpp"
#include "tls/engine.hpp"

namespace skua::testing {

/// TLS for a test client, without a socket. It accepts any server certificate, and presents the
/// given one.
class TlsWire final {
 public:
  explicit TlsWire(const std::vector<std::string>& protocols,
                   const TlsCertificate& certificate = {});

  /// Encrypts bytes to send; only valid once established.
  void write(std::string_view plain);
  /// Sends close_notify.
  void end() { engine_->close_notify(); }
  /// Takes the server's records and returns the plain bytes in them.
  std::string read(std::string_view records);
  /// Returns the records to send.
  std::string take_output();

  [[nodiscard]] bool is_established() const { return engine_->is_established(); }
  /// Reports whether the server has sent close_notify.
  [[nodiscard]] bool has_ended() const { return has_ended_; }
  [[nodiscard]] const tls::Engine& engine() const { return *engine_; }

 private:
  std::unique_ptr<tls::Engine> engine_;
  bool has_ended_ = false;
};

}  // namespace skua::testing
