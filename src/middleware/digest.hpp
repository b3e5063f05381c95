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

/// The implementation of DigestGuard, and of SharedDigest on one server. Thread-safe.
class DigestVerifier final {
 public:
  /// The outcome of judge().
  struct Verdict {
    std::optional<Response> refusal{};
    bool needs_content = false;  ///< judge it again with its content
    std::string user{};          ///< if it may pass
    std::string proof{};         ///< unique among those that were good
  };

  /// `key` signs the nonces: others that have it accept them, if their clocks agree. Empty: nobody
  /// else does.
  ///
  /// Ends with: std::invalid_argument, see auth::digest.
  DigestVerifier(auth::DigestOptions options, std::unique_ptr<const loop::Clock> clock,
                 const std::string& key = {});

  /// Returns nullopt if the request may pass.
  std::optional<Response> check(Request& request) const;
  /// Uses up the proof of a request that may pass. Its content is there if it `is_loaded`, or if
  /// the server says so.
  [[nodiscard]] Verdict judge(const Request& request, bool is_loaded = false) const;
  /// Returns a refusal; a client with a stale proof tries again without asking its user.
  [[nodiscard]] Response challenge(bool is_stale) const;
  [[nodiscard]] Duration nonce_age() const noexcept { return options_.nonce_age; }

 private:
  [[nodiscard]] bool is_offered(const DigestCredentials& credentials) const noexcept;
  [[nodiscard]] std::optional<std::string> name_of(const DigestCredentials& credentials) const;
  [[nodiscard]] bool is_right(const DigestCredentials& credentials,
                              const std::optional<std::string>& name, const Request& request) const;

  auth::DigestOptions options_;
  std::unique_ptr<const loop::Clock> clock_;
  std::string opaque_;
  std::string dummy_password_;  // stands in for unknown users
  mutable NonceStore nonces_;
};

}  // namespace skua::middleware
