// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/credentials.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua::middleware {
class DigestVerifier;
}

/// Guards that let in who knows a password or a token:
///
/// ```cpp
/// router.use(skua::auth::basic("staff only", [](std::string_view user, std::string_view password)
/// {
///   return user == "ada" && skua::auth::token_equals(password, stored_password);
/// }));
/// ```
///
/// What a check is given comes from the peer; it is called by several threads at once. Passwords
/// and tokens are never logged. Basic and Bearer send them as they are: use them over TLS only.
namespace skua::auth {

/// Who a guard let in: in the request's attachments.
struct User {
  std::string name{};
};

/// The user that a guard let in, or null.
[[nodiscard]] inline const User* user(const Request& request SKUA_LIFETIMEBOUND) noexcept {
  return request.attachments().find<User>();
}

/// Compares secrets in a time that says nothing about where they differ (though their sizes show).
[[nodiscard]] bool token_equals(std::string_view given, std::string_view expected) noexcept;

/// Who asks: a server with 401, or a proxy with 407 and the fields whose names begin with Proxy-.
enum class Role : std::uint8_t { Origin, Proxy };

/// A guard; see basic().
class BasicGuard final {
 public:
  using Check = std::function<bool(std::string_view user, std::string_view password)>;

  BasicGuard(std::string_view realm, Check check, Role role);
  std::optional<Response> operator()(Request& request) const;

 private:
  std::string challenge_;
  Check check_;
  Role role_;
};

/// Lets in whom `check` says true for. A user or a password that is not UTF-8 reaches it as it
/// came.
///
/// Ends with: std::invalid_argument for a realm with control characters.
/// RFC:       7617
[[nodiscard]] BasicGuard basic(std::string_view realm, BasicGuard::Check check,
                               Role role = Role::Origin);

/// What a check says of a token: whether it is valid, and whose it is.
class TokenVerdict final {
 public:
  TokenVerdict(bool is_valid) noexcept : kind_(is_valid ? Kind::Valid : Kind::Invalid) {}
  TokenVerdict(User user) : user_(std::move(user)), kind_(Kind::Valid) {}
  TokenVerdict(std::optional<User> user)
      : user_(std::move(user)), kind_(user_ ? Kind::Valid : Kind::Invalid) {}
  /// The token is valid, but not for this: 403, and the scope that it would take.
  static TokenVerdict lacks_scope(std::string_view scope);

 private:
  friend class BearerGuard;
  enum class Kind : std::uint8_t { Valid, Invalid, LacksScope };

  std::optional<User> user_;
  std::string scope_;
  Kind kind_;
};

/// A guard; see bearer().
class BearerGuard final {
 public:
  using Check = std::function<TokenVerdict(std::string_view token)>;

  BearerGuard(Check check, std::string_view realm);
  std::optional<Response> operator()(Request& request) const;

 private:
  std::string challenge_;
  Check check_;
};

/// Lets in who has a token that `check` takes: it returns a bool, a User, or a TokenVerdict. Tokens
/// are taken from the field Authorization only, as those in a URL end up in logs.
///
/// Ends with: std::invalid_argument for a realm with control characters.
/// RFC:       6750 §2.1, §3
[[nodiscard]] BearerGuard bearer(BearerGuard::Check check, std::string_view realm = "api");

/// What a server knows of a password: itself, or what digest_secret() made of it.
struct DigestSecret {
  std::optional<std::string> password{};
  std::string md5{};         ///< in place of the password, for MD5
  std::string sha256{};      ///< for SHA-256
  std::string sha512_256{};  ///< for SHA-512-256
};

/// How digest() asks and decides.
struct DigestOptions {
  std::string realm = "restricted";
  /// What is known of a user; nothing for one that does not exist.
  std::function<std::optional<DigestSecret>(std::string_view user)> lookup{};
  /// What is offered, the best first. MD5 is for clients that know nothing else, Safari among them.
  std::vector<DigestAlgorithm> algorithms{DigestAlgorithm::Sha256, DigestAlgorithm::Md5};
  /// Whether clients may protect the content too (auth-int); a content that a handler streams
  /// fails.
  bool integrity = false;
  /// How long a nonce is good for; then a client proves itself again, without asking the user.
  Duration nonce_age = 5min;
  /// How many nonces in use are remembered, at most 64 bytes each; the oldest are stale early.
  std::size_t nonce_count = 65'536;
  /// URIs that the same password is for, between spaces; empty: all of this server.
  std::string domain{};
  /// Who has this digest_user_hash(); without it clients send names as they are.
  std::function<std::optional<std::string>(DigestAlgorithm algorithm, std::string_view hash)>
      find_user{};
  Role role = Role::Origin;
};

/// A guard; see digest().
class DigestGuard final {
 public:
  explicit DigestGuard(DigestOptions options);
  std::optional<Response> operator()(Request& request) const;

 private:
  // Shared: copies of a guard know the same nonces.
  std::shared_ptr<const middleware::DigestVerifier> verifier_;
};

/// Lets in who proves to know a password without sending it. Every proof is good for one request:
/// nonces are signed, they age, and a count that was used is refused. An unknown user takes as
/// long as a wrong password, if `lookup` does. Clients that count nothing (RFC 2069) are refused.
///
/// Ends with: std::invalid_argument without lookup or algorithms, and without OpenSSL.
/// RFC:       7616
[[nodiscard]] DigestGuard digest(DigestOptions options);

}  // namespace skua::auth
