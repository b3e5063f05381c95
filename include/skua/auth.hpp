// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

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
#include "skua/mistakes.hpp"
#include "skua/next.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"

namespace skua::middleware {
class DigestVerifier;
}

/// Guards that require a password or a token:
///
/// ```cpp
/// router.use(skua::auth::basic("staff only", [](std::string_view user, std::string_view password)
/// {
///   return user == "ada" && skua::auth::token_equals(password, stored_password);
/// }));
/// ```
///
/// Checks get untrusted input, and are called from several threads at once. Passwords and tokens
/// are never logged. Basic and Bearer send them in the clear: use these over TLS only.
namespace skua::auth {

/// The user that a guard let in, kept in the request's attachments.
struct User {
  std::string name{};
};

/// Returns the user that a guard let in, or null.
[[nodiscard]] inline const User* user(const Request& request SKUA_LIFETIMEBOUND) noexcept {
  return request.attachments().find<User>();
}

/// Compares secrets in a time that does not depend on where they differ (their sizes may leak).
[[nodiscard]] SKUA_API bool token_equals(std::string_view given,
                                         std::string_view expected) noexcept;

/// The challenger: an origin server (401), or a proxy (407 and the Proxy- fields).
enum class Role : std::uint8_t { Origin, Proxy };

/// A guard; see basic().
class SKUA_API BasicGuard final {
 public:
  /// See Router::use().
  static constexpr bool ignores_path = true;

  using Check = std::function<bool(std::string_view user, std::string_view password)>;

  BasicGuard(std::string_view realm, Check check, Role role);
  std::optional<Response> operator()(Request& request) const;

 private:
  std::string challenge_;
  Check check_;
  Role role_;
};

/// Lets in users for whom `check` returns true. A user name or password that is not UTF-8 is passed
/// to it unchanged.
///
/// Ends with: std::invalid_argument for a realm with control characters.
/// RFC:       7617
[[nodiscard]] SKUA_API BasicGuard basic(std::string_view realm, BasicGuard::Check check,
                                        Role role = Role::Origin);

/// A middleware; see basic() with a check that waits.
class SKUA_API WaitingBasic final {
 public:
  /// See Router::use().
  static constexpr bool ignores_path = true;

  using Check = std::function<Task<bool>(std::string_view user, std::string_view password)>;

  WaitingBasic(std::string_view realm, Check check, Role role);
  Task<Response> operator()(Request& request, Next next) const;

 private:
  struct Kept;
  static Task<Response> run(std::shared_ptr<const Kept> kept, Request& request, Next next);

  std::shared_ptr<const Kept> kept_;  // by the copies, and the requests in progress
};

/// Like the other form, with a check that waits for a database, another server or offload(), and
/// returns a Task<bool>. If it throws, the request fails: nobody is let in.
///
/// Lifetime:  name and password are valid until the task has ended.
template <class F>
  requires std::is_invocable_r_v<Task<bool>, F&, std::string_view, std::string_view>
[[nodiscard]] WaitingBasic basic(std::string_view realm, F check, Role role = Role::Origin) {
  return {realm, WaitingBasic::Check(std::move(check)), role};
}

/// The result of a token check: whether the token is valid, and whose it is.
class SKUA_API TokenVerdict final {
 public:
  TokenVerdict(bool is_valid) noexcept : kind_(is_valid ? Kind::Valid : Kind::Invalid) {}
  TokenVerdict(User user) : user_(std::move(user)), kind_(Kind::Valid) {}
  TokenVerdict(std::optional<User> user)
      : user_(std::move(user)), kind_(user_ ? Kind::Valid : Kind::Invalid) {}
  /// The token is valid but lacks the scope: 403, and the scope in the challenge.
  static TokenVerdict lacks_scope(std::string_view scope);

 private:
  friend class BearerGuard;
  friend class WaitingBearer;
  enum class Kind : std::uint8_t { Valid, Invalid, LacksScope };

  std::optional<Response> apply(Request& request, const std::string& challenge) &&;

  std::optional<User> user_;
  std::string scope_;
  Kind kind_;
};

/// A guard; see bearer().
class SKUA_API BearerGuard final {
 public:
  /// See Router::use().
  static constexpr bool ignores_path = true;

  using Check = std::function<TokenVerdict(std::string_view token)>;

  BearerGuard(Check check, std::string_view realm);
  std::optional<Response> operator()(Request& request) const;

 private:
  std::string challenge_;
  Check check_;
};

/// Lets in requests with a token that `check` accepts; it returns a bool, a User, or a
/// TokenVerdict. Tokens are read from Authorization only, because those in a URL end up in logs.
///
/// Ends with: std::invalid_argument for a realm with control characters.
/// RFC:       6750 §2.1, §3
[[nodiscard]] SKUA_API BearerGuard bearer(BearerGuard::Check check, std::string_view realm = "api");

/// A middleware; see bearer() with a check that waits.
class SKUA_API WaitingBearer final {
 public:
  /// See Router::use().
  static constexpr bool ignores_path = true;

  using Check = std::function<Task<TokenVerdict>(std::string_view token)>;

  WaitingBearer(Check check, std::string_view realm);
  Task<Response> operator()(Request& request, Next next) const;

 private:
  struct Kept;
  static Task<Response> run(std::shared_ptr<const Kept> kept, Request& request, Next next);

  std::shared_ptr<const Kept> kept_;  // by the copies, and the requests in progress
};

/// Like the other form, with a check that waits, and returns a Task<TokenVerdict>. If it throws,
/// the request fails: nobody is let in.
///
/// Lifetime:  the token is valid until the task has ended.
template <class F>
  requires std::is_invocable_r_v<Task<TokenVerdict>, F&, std::string_view>
[[nodiscard]] WaitingBearer bearer(F check, std::string_view realm = "api") {
  return {WaitingBearer::Check(std::move(check)), realm};
}
template <class F>
  requires(std::is_invocable_r_v<Task<bool>, F&, std::string_view> ||
           std::is_invocable_r_v<Task<User>, F&, std::string_view> ||
           std::is_invocable_r_v<Task<std::optional<User>>, F&, std::string_view>)
WaitingBearer bearer(F, std::string_view = "api") {
  static_assert(detail::never<F>,
                "a check that waits returns a Task<skua::auth::TokenVerdict>, and co_returns a "
                "bool, a User or a TokenVerdict");
  return {WaitingBearer::Check(), {}};
}

/// A stored secret of a user: the password, or its hashes by digest_secret().
struct DigestSecret {
  std::optional<std::string> password{};
  std::string md5{};         ///< instead of the password, for MD5
  std::string sha256{};      ///< for SHA-256
  std::string sha512_256{};  ///< for SHA-512-256
};

/// Options of digest().
struct DigestOptions {
  std::string realm = "restricted";
  /// Returns what is stored for a user; nullopt if there is no such user.
  std::function<std::optional<DigestSecret>(std::string_view user)> lookup{};
  /// The algorithms offered, best first. MD5 is for clients that know no other, such as Safari.
  std::vector<DigestAlgorithm> algorithms{DigestAlgorithm::Sha256, DigestAlgorithm::Md5};
  /// Lets clients protect the content too (auth-int); fails if the handler streams the content.
  bool integrity = false;
  /// The lifetime of a nonce; after it the client authenticates again, without asking the user.
  Duration nonce_age = 5min;
  /// The number of used nonces kept, at most 64 bytes each; past it the oldest become stale early.
  std::size_t nonce_count = 65'536;
  /// URIs that share the password, separated by spaces; empty: all of this server.
  std::string domain{};
  /// Returns the user with this digest_user_hash(); if empty, clients send names in the clear.
  std::function<std::optional<std::string>(DigestAlgorithm algorithm, std::string_view hash)>
      find_user{};
  Role role = Role::Origin;
};

/// A guard; see digest().
class SKUA_API DigestGuard final {
 public:
  /// See Router::use().
  static constexpr bool ignores_path = true;

  explicit DigestGuard(DigestOptions options);
  std::optional<Response> operator()(Request& request) const;

 private:
  // Shared: copies of a guard know the same nonces.
  std::shared_ptr<const middleware::DigestVerifier> verifier_;
};

/// Lets in clients that prove their password without sending it. Every proof is good for one
/// request: nonces are signed and expire, and a reused count is refused. An unknown user takes as
/// long as a wrong password, if `lookup` does. Clients that send no count (RFC 2069) are refused.
///
/// Ends with: std::invalid_argument if `lookup` or `algorithms` is empty, or without OpenSSL.
/// RFC:       7616
[[nodiscard]] SKUA_API DigestGuard digest(DigestOptions options);

}  // namespace skua::auth
