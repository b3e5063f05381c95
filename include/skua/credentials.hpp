// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "skua/config.hpp"
#include "skua/error.hpp"

// Challenges and credentials of WWW-Authenticate and Authorization, and of their Proxy- variants,
// as values, for servers and clients. Nothing here uses a clock or a socket.
namespace skua {

/// A parameter `name=value`, unquoted.
struct AuthParameter {
  std::string name{};
  std::string value{};
};

/// A challenge or credentials: a scheme with its token or parameters. RFC 9110 §11.3, §11.4
struct SKUA_API Challenge {
  std::string scheme{};                     ///< as it was sent; compare it with is()
  std::string token{};                      ///< the token68 of `Bearer abc=`, instead of parameters
  std::vector<AuthParameter> parameters{};  ///< their names are in lower case

  /// Reports whether it has this scheme, ignoring case.
  [[nodiscard]] bool is(std::string_view name) const noexcept;
  /// Returns the value of a parameter by its lower-case name, or null.
  [[nodiscard]] const std::string* find(std::string_view name) const noexcept SKUA_LIFETIMEBOUND;
};

/// Limits of a field; one that exceeds them is refused.
inline constexpr std::size_t max_challenges = 16;
inline constexpr std::size_t max_challenge_parameters = 32;
inline constexpr std::size_t max_challenge_bytes = 16384;

/// Parses a WWW-Authenticate field: `Basic realm="a", Digest realm="b", nonce="c"` is two.
///
/// Ends with: MalformedChallenge.
/// RFC:       9110 §11.6.1
SKUA_API Result<std::vector<Challenge>> parse_challenges(std::string_view field);

/// Parses an Authorization field.
///
/// Ends with: MalformedChallenge.
/// RFC:       9110 §11.6.2
SKUA_API Result<Challenge> parse_credentials(std::string_view field);

/// A user name and password of the Basic scheme, as bytes: UTF-8 by RFC 7617 §2.1.
struct SKUA_API BasicCredentials {
  std::string user{};
  std::string password{};

  /// Parses an Authorization field.
  ///
  /// Ends with: MalformedChallenge, also for control characters and if there is no colon.
  static Result<BasicCredentials> parse(std::string_view field);
  /// Formats the field: `Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==`.
  ///
  /// Ends with: MalformedChallenge for a user with a colon and for control characters.
  [[nodiscard]] Result<std::string> field() const;
};

/// Hash algorithms of Digest; `Sess` hashes the password once per session. RFC 7616 §3.3
enum class DigestAlgorithm : std::uint8_t {
  Md5,
  Md5Sess,
  Sha256,
  Sha256Sess,
  Sha512256,
  Sha512256Sess,
};

/// Returns the registered name: `SHA-256-sess`.
SKUA_API std::string_view name(DigestAlgorithm algorithm) noexcept;
/// Returns the algorithm with this registered name, ignoring case.
SKUA_API std::optional<DigestAlgorithm> parse_digest_algorithm(std::string_view name) noexcept;

/// Quality of protection of Digest; Legacy is RFC 2069, without a nonce count.
enum class DigestQop : std::uint8_t { Legacy, Auth, AuthInt };

/// A challenge of the Digest scheme. RFC 7616 §3.3
struct SKUA_API DigestChallenge {
  std::string realm{};
  std::string nonce{};
  std::string opaque{};
  std::string domain{};  ///< URIs with the same credentials, separated by spaces; empty: all
  DigestAlgorithm algorithm = DigestAlgorithm::Md5;
  bool offers_auth = true;       ///< if neither is set, clients answer as in RFC 2069
  bool offers_auth_int = false;  ///< protects the content too
  bool is_stale = false;         ///< the password was right, but the nonce was old
  bool wants_user_hash = false;  ///< the user name may be hashed
  bool is_utf8 = true;           ///< charset=UTF-8, for names and passwords

  /// Reads a challenge of this scheme.
  ///
  /// Ends with: MalformedChallenge; Unsupported for an unknown algorithm or qop.
  static Result<DigestChallenge> from(const Challenge& challenge);
  [[nodiscard]] std::string field() const;
};

/// Credentials of the Digest scheme. RFC 7616 §3.4
struct SKUA_API DigestCredentials {
  std::string user{};  ///< or its hash
  std::string realm{};
  std::string nonce{};
  std::string uri{};  ///< the request target
  std::string response{};
  std::string cnonce{};
  std::string opaque{};
  std::uint32_t nonce_count = 0;
  DigestAlgorithm algorithm = DigestAlgorithm::Md5;
  DigestQop qop = DigestQop::Legacy;
  bool is_user_hashed = false;
  /// Whether a non-ASCII name may be sent as `username*`; servers older than RFC 7616 need its
  /// octets in `username`.
  bool may_encode_user = true;

  /// Reads credentials of this scheme.
  ///
  /// Ends with: MalformedChallenge; Unsupported for an unknown algorithm or qop.
  static Result<DigestCredentials> from(const Challenge& credentials);
  [[nodiscard]] std::string field() const;

  /// Computes the expected `response`; `secret` is from digest_secret(), `body` for AuthInt only.
  ///
  /// Ends with: Unsupported without OpenSSL.
  /// RFC:       7616 §3.4.1
  [[nodiscard]] Result<std::string> compute(std::string_view secret, std::string_view method,
                                            std::string_view body = {}) const;
};

/// Returns the hash that a server may store instead of a password: H(user:realm:password), in hex,
/// equal with and without `Sess`.
///
/// Ends with: Unsupported without OpenSSL.
/// RFC:       7616 §3.4.2
SKUA_API Result<std::string> digest_secret(DigestAlgorithm algorithm, std::string_view user,
                                           std::string_view realm, std::string_view password);

/// Returns the hash that hides a user name: H(user:realm), in hex.
///
/// Ends with: Unsupported without OpenSSL.
/// RFC:       7616 §3.4.4
SKUA_API Result<std::string> digest_user_hash(DigestAlgorithm algorithm, std::string_view user,
                                              std::string_view realm);

/// The client's side of Digest: answers a challenge, then each request with the next nonce count.
class SKUA_API DigestSession final {
 public:
  DigestSession(std::string user, std::string password)
      : user_(std::move(user)), password_(std::move(password)) {}

  /// Accepts the strongest supported challenge of a response's WWW-Authenticate fields.
  ///
  /// Ends with: Unsupported if no challenge is supported.
  Result<void> accept(std::span<const std::string_view> fields);
  /// Takes `nextnonce` from an Authentication-Info field.
  ///
  /// Ends with: MalformedChallenge.
  /// RFC:       7616 §3.5
  Result<void> advance(std::string_view authentication_info);
  [[nodiscard]] bool has_challenge() const noexcept { return !challenge_.nonce.empty(); }
  /// Reports whether the last challenge only asks for a retry with the new nonce.
  [[nodiscard]] bool is_stale() const noexcept { return challenge_.is_stale; }
  /// Reports whether authorize() needs the content: the server accepts only auth-int.
  [[nodiscard]] bool needs_content() const noexcept {
    return challenge_.offers_auth_int && !challenge_.offers_auth;
  }

  /// Returns the Authorization field for the next request.
  ///
  /// Ends with: Unsupported without a challenge.
  Result<std::string> authorize(std::string_view method, std::string_view uri,
                                std::string_view body = {});

 private:
  Result<void> restart(std::string nonce);

  std::string user_;
  std::string password_;
  std::string secret_;
  std::string cnonce_;
  DigestChallenge challenge_;
  std::uint32_t nonce_count_ = 0;
};

}  // namespace skua
