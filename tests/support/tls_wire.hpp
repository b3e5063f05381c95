// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "skua/tls.hpp"
#include "tls/engine.hpp"

namespace skua::testing {

/// TLS of a test's client, without a socket: it believes any certificate, and shows
/// the one that it is given.
class TlsWire final {
 public:
  explicit TlsWire(const std::vector<std::string>& protocols,
                   const TlsCertificate& certificate = {});

  /// Plain bytes to be sent; only once it is established.
  void write(std::string_view plain);
  /// Says that no more will be sent.
  void end() { engine_->close_notify(); }
  /// Records of the server; the plain bytes in them.
  std::string read(std::string_view records);
  /// Records to be sent.
  std::string take_output();

  [[nodiscard]] bool is_established() const { return engine_->is_established(); }
  /// Whether the server said that it sends no more.
  [[nodiscard]] bool has_ended() const { return has_ended_; }
  [[nodiscard]] const tls::Engine& engine() const { return *engine_; }

 private:
  std::unique_ptr<tls::Engine> engine_;
  bool has_ended_ = false;
};

}  // namespace skua::testing
