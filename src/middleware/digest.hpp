// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "loop/clock.hpp"
#include "middleware/nonce_store.hpp"
#include "skua/auth.hpp"

namespace skua::middleware {

/// The implementation of DigestGuard. Thread-safe.
class DigestVerifier final {
 public:
  /// Ends with: std::invalid_argument, see auth::digest.
  DigestVerifier(auth::DigestOptions options, std::unique_ptr<const loop::Clock> clock);

  /// Returns nullopt if the request may pass.
  std::optional<Response> check(Request& request) const;

 private:
  [[nodiscard]] bool is_offered(const DigestCredentials& credentials) const noexcept;
  [[nodiscard]] std::optional<std::string> name_of(const DigestCredentials& credentials) const;
  [[nodiscard]] bool is_right(const DigestCredentials& credentials,
                              const std::optional<std::string>& name, const Request& request) const;
  [[nodiscard]] Response challenge(bool is_stale) const;

  auth::DigestOptions options_;
  std::unique_ptr<const loop::Clock> clock_;
  std::string opaque_;
  std::string dummy_password_;  // stands in for unknown users
  mutable NonceStore nonces_;
};

}  // namespace skua::middleware
