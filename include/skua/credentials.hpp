// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "skua/config.hpp"
#include "skua/error.hpp"

/// Challenges and credentials as values: what WWW-Authenticate and Authorization hold, for servers
/// and for clients, with Proxy- in front or without. Nothing here looks at a clock or a socket.
namespace skua {

/// One `name=value`, unquoted.
struct AuthParameter {
  std::string name{};
  std::string value{};
};

/// A scheme and what it says: a challenge, or credentials. RFC 9110 §11.3, §11.4
struct Challenge {
  std::string scheme{};                     ///< as it was sent; compare it with is()
  std::string token{};                      ///< `Bearer abc=`: what stands there in place of...
  std::vector<AuthParameter> parameters{};  ///< ...parameters; their names are in lower case

  /// Whether it has this scheme, whatever the case of its letters.
  [[nodiscard]] bool is(std::string_view name) const noexcept;
  /// The value of a parameter, by its name in lower case, or null.
  [[nodiscard]] const std::string* find(std::string_view name) const noexcept SKUA_LIFETIMEBOUND;
};

/// What bounds a field: one that has more is refused.
inline constexpr std::size_t max_challenges = 16;
inline constexpr std::size_t max_challenge_parameters = 32;
inline constexpr std::size_t max_challenge_bytes = 16384;

/// Reads a field WWW-Authenticate: `Basic realm="a", Digest realm="b", nonce="c"` is two.
///
/// Ends with: MalformedChallenge.
/// RFC:       9110 §11.6.1
Result<std::vector<Challenge>> parse_challenges(std::string_view field);

/// Reads a field Authorization.
///
/// Ends with: MalformedChallenge.
/// RFC:       9110 §11.6.2
Result<Challenge> parse_credentials(std::string_view field);

/// A name and a password, as the scheme Basic carries them: bytes, by RFC 7617 §2.1 in UTF-8.
struct BasicCredentials {
  std::string user{};
  std::string password{};

  /// Reads a field Authorization.
  ///
  /// Ends with: MalformedChallenge, also for control characters and for no colon.
  static Result<BasicCredentials> parse(std::string_view field);
  /// The field: `Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==`.
  ///
  /// Ends with: MalformedChallenge for a user with a colon and for control characters.
  [[nodiscard]] Result<std::string> field() const;
};

/// How Digest hashes. With `Sess` the password is hashed once for many requests. RFC 7616 §3.3
enum class DigestAlgorithm : std::uint8_t {
  Md5,
  Md5Sess,
  Sha256,
  Sha256Sess,
  Sha512256,
  Sha512256Sess,
};

/// `SHA-256-sess`
std::string_view name(DigestAlgorithm algorithm) noexcept;
std::optional<DigestAlgorithm> parse_digest_algorithm(std::string_view name) noexcept;

/// What a response of Digest protects: Legacy is RFC 2069, without a count.
enum class DigestQop : std::uint8_t { Legacy, Auth, AuthInt };

/// What a server asks with. RFC 7616 §3.3
struct DigestChallenge {
  std::string realm{};
  std::string nonce{};
  std::string opaque{};
  std::string domain{};  ///< URIs that the same answer is good for, between spaces; empty: all
  DigestAlgorithm algorithm = DigestAlgorithm::Md5;
  bool offers_auth = true;       ///< neither: a client answers in the way of RFC 2069
  bool offers_auth_int = false;  ///< protection of the content too
  bool is_stale = false;         ///< the password was right, but the nonce was old
  bool wants_user_hash = false;  ///< the name of the user may be hidden
  bool is_utf8 = true;           ///< names and passwords are: charset=UTF-8

  /// Ends with: MalformedChallenge; Unsupported for an algorithm or a qop that we do not know.
  static Result<DigestChallenge> from(const Challenge& challenge);
  [[nodiscard]] std::string field() const;
};

/// What a client answers. RFC 7616 §3.4
struct DigestCredentials {
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
  /// Whether a name of other letters may become `username*`, which servers of before RFC 7616 do
  /// not know: they find its octets in `username`.
  bool may_encode_user = true;

  /// Ends with: MalformedChallenge; Unsupported for an algorithm or a qop that we do not know.
  static Result<DigestCredentials> from(const Challenge& credentials);
  [[nodiscard]] std::string field() const;

  /// What `response` has to be; `secret` is of digest_secret(), `body` matters to AuthInt only.
  ///
  /// Ends with: Unsupported without OpenSSL.
  /// RFC:       7616 §3.4.1
  [[nodiscard]] Result<std::string> compute(std::string_view secret, std::string_view method,
                                            std::string_view body = {}) const;
};

/// What a server may keep in place of a password: H(user:realm:password), in hex; the same with and
/// without `Sess`.
///
/// Ends with: Unsupported without OpenSSL.
/// RFC:       7616 §3.4.2
Result<std::string> digest_secret(DigestAlgorithm algorithm, std::string_view user,
                                  std::string_view realm, std::string_view password);

/// What hides the name of a user: H(user:realm), in hex.
///
/// Ends with: Unsupported without OpenSSL.
/// RFC:       7616 §3.4.4
Result<std::string> digest_user_hash(DigestAlgorithm algorithm, std::string_view user,
                                     std::string_view realm);

/// The client's side of Digest: answers a challenge, then request after request with the next
/// count.
class DigestSession final {
 public:
  DigestSession(std::string user, std::string password)
      : user_(std::move(user)), password_(std::move(password)) {}

  /// Takes the strongest challenge that we know, from all WWW-Authenticate fields of a response.
  ///
  /// Ends with: Unsupported where there is none.
  Result<void> accept(std::span<const std::string_view> fields);
  /// Takes `nextnonce` from a field Authentication-Info.
  ///
  /// Ends with: MalformedChallenge.
  /// RFC:       7616 §3.5
  Result<void> advance(std::string_view authentication_info);
  [[nodiscard]] bool has_challenge() const noexcept { return !challenge_.nonce.empty(); }
  /// Whether the last challenge means: the same password again, with the new nonce.
  [[nodiscard]] bool is_stale() const noexcept { return challenge_.is_stale; }
  /// Whether authorize() needs the content: the server takes nothing but auth-int.
  [[nodiscard]] bool needs_content() const noexcept {
    return challenge_.offers_auth_int && !challenge_.offers_auth;
  }

  /// The field Authorization of the next request.
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
