// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "http/field.hpp"
#include "skua/config.hpp"
#include "skua/credentials.hpp"
#include "skua/error.hpp"
#include "skua/status.hpp"

namespace skua::client {

/// How somebody asks who is there, and where it is told.
///
/// RFC:       9110 §11.6, §11.7; 7616 §3.5
struct AuthorizationFields {
  Status status;                 ///< of a response that asks
  std::string_view challenge;    ///< holds what it asks with
  std::string_view credentials;  ///< holds the answer, in a request
  std::string_view info;         ///< holds what the next answer is made of, in other responses
  bool is_told_unasked;          ///< by Basic, until another scheme is asked for
};

inline constexpr AuthorizationFields origin_authorization{
    Status::Unauthorized, "WWW-Authenticate", "Authorization", "Authentication-Info", false};
inline constexpr AuthorizationFields proxy_authorization{
    Status::ProxyAuthenticationRequired, "Proxy-Authenticate", "Proxy-Authorization",
    "Proxy-Authentication-Info", true};

/// How a name and a password are shown to one server or proxy: the same for request after request.
///
/// Lifetime:  the fields outlive it.
/// RFC:       7616, 7617
class Authorization final {
 public:
  /// Without credentials nobody is named, whoever asks.
  Authorization(const AuthorizationFields& fields SKUA_LIFETIMEBOUND,
                std::optional<BasicCredentials> credentials);

  /// The value of the field that tells who asks; empty where that is not wanted yet, or nobody is
  /// named.
  ///
  /// Ends with: Unsupported, also where the content has to be protected, and is not known here;
  ///            MalformedChallenge.
  Result<std::string> field(std::string_view method, std::string_view target,
                            std::optional<std::string_view> content);
  /// Looks at a response to a request that was sent with this field().
  ///
  /// Ends with: whether it asks, in a way that another request can answer.
  [[nodiscard]] bool learn(const http::Head& head, std::string_view sent);
  /// Whether it asks again only because the last answer was too old.
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

/// The authorizations of a client to servers, as many as fit: one for each server and user.
class Authorizations final {
 public:
  /// Lifetime:  until the next call.
  Authorization& of(std::string_view server, const BasicCredentials& credentials);

 private:
  std::map<std::string, Authorization, std::less<>> known_;
};

}  // namespace skua::client
