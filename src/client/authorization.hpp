// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/message/field.hpp"
#include "skua/config.hpp"
#include "skua/credentials.hpp"
#include "skua/error.hpp"
#include "skua/status.hpp"

namespace skua::client {

/// Returns the values of all field lines with this name.
std::vector<std::string_view> values_of(const http::Head& head, std::string_view name);

/// Reports whether any challenge in these fields is Basic. Malformed fields are skipped.
bool offers_basic(std::span<const std::string_view> fields);

/// The status and fields by which an origin or a proxy authenticates clients.
///
/// RFC:       9110 §11.6, §11.7; 7616 §3.5
struct AuthorizationFields {
  Status status;                 ///< of a response with a challenge
  std::string_view challenge;    ///< holds the challenge
  std::string_view credentials;  ///< holds the answer, in a request
  std::string_view info;         ///< holds the next nonce, in other responses
  bool is_preemptive;            ///< Basic credentials are sent before any challenge
};

inline constexpr AuthorizationFields origin_authorization{
    Status::Unauthorized, "WWW-Authenticate", "Authorization", "Authentication-Info", false};
inline constexpr AuthorizationFields proxy_authorization{
    Status::ProxyAuthenticationRequired, "Proxy-Authenticate", "Proxy-Authorization",
    "Proxy-Authentication-Info", true};

/// Authentication to one server or proxy with one user name and password, across requests.
///
/// Lifetime:  the fields outlive it.
/// RFC:       7616, 7617
class Authorization final {
 public:
  /// Without credentials, challenges are never answered.
  Authorization(const AuthorizationFields& fields SKUA_LIFETIMEBOUND,
                std::optional<BasicCredentials> credentials);

  /// Returns the value of the credentials field; empty if none is needed yet or there are no
  /// credentials.
  ///
  /// Ends with: Unsupported, also if the content must be protected but is not in memory;
  ///            MalformedChallenge.
  Result<std::string> field(std::string_view method, std::string_view target,
                            std::optional<std::string_view> content);
  /// Examines the response to a request that was sent with this field().
  ///
  /// Ends with: true if the response has a challenge that another request can answer.
  [[nodiscard]] bool learn(const http::Head& head, std::string_view sent);
  /// Reports whether the last challenge came only because the nonce was too old.
  [[nodiscard]] bool is_stale() const noexcept {
    return scheme_ == Scheme::Digest && digest_.is_stale();
  }

 private:
  enum class Scheme : std::uint8_t { None, Basic, Digest };

  [[nodiscard]] bool accept(const http::Head& head, std::string_view sent);

  const AuthorizationFields* fields_;
  std::optional<BasicCredentials> credentials_;
  DigestSession digest_;
  Scheme scheme_ = Scheme::None;
};

/// A bounded cache of a client's authorizations, one for each server and credentials.
class Authorizations final {
 public:
  /// Lifetime:  until the next call.
  Authorization& of(std::string_view server, const BasicCredentials& credentials);

 private:
  std::map<std::string, Authorization, std::less<>> known_;
};

}  // namespace skua::client
