// SPDX-License-Identifier: MIT
// Parses and formats an Authorization field with a user and a password.

#include <initializer_list>

#include "base/ascii.hpp"
#include "base/base_encoding.hpp"
#include "crypto/digest.hpp"
#include "crypto/random.hpp"
#include "http/auth/challenge.hpp"
#include "skua/credentials.hpp"

namespace skua {
namespace {

constexpr Error malformed_basic{Errc::MalformedChallenge, "Basic"};

}  // namespace

Result<BasicCredentials> BasicCredentials::parse(std::string_view field) {
  const auto encoded = http::after_scheme(field, "Basic");
  if (!encoded || encoded->size() > max_challenge_bytes) return malformed_basic;
  const auto pair = base64::decode(*encoded);
  if (!pair || ascii::has_control(*pair)) return malformed_basic;
  // RFC 7617 §2: the first colon separates; the password may contain more.
  const std::size_t colon = pair->find(':');
  if (colon == pair->npos) return malformed_basic;
  return BasicCredentials{pair->substr(0, colon), pair->substr(colon + 1)};
}

Result<std::string> BasicCredentials::field() const {
  // RFC 7617 §2: no colon in the user, and no control characters at all.
  if (user.find(':') != user.npos || ascii::has_control(user) || ascii::has_control(password))
    return malformed_basic;
  return "Basic " + base64::encode(user + ":" + password);
}

// In: credentials, a secret and the request. Out: the response that proves the secret.
// RFC 7616 §3.4.1: KD(H(A1), nonce:nc:cnonce:qop:H(A2)), where KD(a, b) is H(a:b).

namespace {

constexpr crypto::Hash hash_of(DigestAlgorithm algorithm) noexcept {
  switch (algorithm) {
    case DigestAlgorithm::Md5:
    case DigestAlgorithm::Md5Sess: return crypto::Hash::Md5;
    case DigestAlgorithm::Sha256:
    case DigestAlgorithm::Sha256Sess: return crypto::Hash::Sha256;
    case DigestAlgorithm::Sha512256:
    case DigestAlgorithm::Sha512256Sess: break;
  }
  return crypto::Hash::Sha512256;
}

constexpr bool is_session(DigestAlgorithm algorithm) noexcept {
  return algorithm == DigestAlgorithm::Md5Sess || algorithm == DigestAlgorithm::Sha256Sess ||
         algorithm == DigestAlgorithm::Sha512256Sess;
}

// Returns the hash, in hex, of the texts joined with colons.
Result<std::string> hash_joined(DigestAlgorithm algorithm,
                                std::initializer_list<std::string_view> texts) {
  std::string joined;
  for (const std::string_view text : texts) joined.append(text).push_back(':');
  joined.pop_back();
  return crypto::hash_hex(hash_of(algorithm), joined);
}

constexpr unsigned strength(DigestAlgorithm algorithm) noexcept {
  return static_cast<unsigned>(algorithm);  // the enumerators are in order of strength
}

}  // namespace

Result<std::string> digest_secret(DigestAlgorithm algorithm, std::string_view user,
                                  std::string_view realm, std::string_view password) {
  return hash_joined(algorithm, {user, realm, password});
}

Result<std::string> digest_user_hash(DigestAlgorithm algorithm, std::string_view user,
                                     std::string_view realm) {
  return hash_joined(algorithm, {user, realm});
}

Result<std::string> DigestCredentials::compute(std::string_view secret, std::string_view method,
                                               std::string_view body) const {
  std::string key(secret);
  if (is_session(algorithm)) {  // RFC 7616 §3.4.2
    auto session_key = hash_joined(algorithm, {secret, nonce, cnonce});
    if (!session_key) return session_key.error();
    key = *std::move(session_key);
  }
  const auto hashed_body = qop == DigestQop::AuthInt ? crypto::hash_hex(hash_of(algorithm), body)
                                                     : Result<std::string>(std::string());
  if (!hashed_body) return hashed_body.error();
  // RFC 7616 §3.4.3
  const auto action = qop == DigestQop::AuthInt
                          ? hash_joined(algorithm, {method, uri, *hashed_body})
                          : hash_joined(algorithm, {method, uri});
  if (!action) return action.error();
  // RFC 2069 §2.1.2
  if (qop == DigestQop::Legacy) return hash_joined(algorithm, {key, nonce, *action});
  return hash_joined(algorithm, {key, nonce, http::digest_count(nonce_count), cnonce,
                                 qop == DigestQop::Auth ? "auth" : "auth-int", *action});
}

Result<void> DigestSession::restart(std::string nonce) {
  // One cnonce per nonce keeps the -sess key the same in both readings of RFC 7616 §3.4.2.
  Result<std::string> cnonce = crypto::random_token();
  if (!cnonce) return cnonce.error();
  cnonce_ = *std::move(cnonce);
  challenge_.nonce = std::move(nonce);
  nonce_count_ = 0;
  return {};
}

Result<void> DigestSession::accept(std::span<const std::string_view> fields) {
  std::optional<DigestChallenge> best;
  for (const std::string_view field : fields) {
    const auto challenges = parse_challenges(field);
    if (!challenges) continue;  // another field may be valid
    for (const Challenge& challenge : *challenges) {
      const auto digest = DigestChallenge::from(challenge);
      if (!digest || (best && strength(digest->algorithm) <= strength(best->algorithm))) continue;
      best = *digest;
    }
  }
  if (!best) return Error(Errc::Unsupported, "Digest");
  auto secret = digest_secret(best->algorithm, user_, best->realm, password_);
  if (!secret) return secret.error();
  secret_ = *std::move(secret);
  challenge_ = *std::move(best);
  return restart(challenge_.nonce);
}

Result<void> DigestSession::advance(std::string_view authentication_info) {
  const auto info = http::parse_auth_parameters(authentication_info);
  if (!info) return info.error();
  const std::string* const next = info->find("nextnonce");
  if (next == nullptr || next->empty() || *next == challenge_.nonce) return {};
  return restart(*next);
}

Result<std::string> DigestSession::authorize(std::string_view method, std::string_view uri,
                                             std::string_view body) {
  if (!has_challenge()) return Error(Errc::Unsupported, "Digest");
  DigestCredentials credentials;
  credentials.user = user_;
  credentials.realm = challenge_.realm;
  credentials.nonce = challenge_.nonce;
  credentials.uri = uri;
  credentials.cnonce = cnonce_;
  credentials.opaque = challenge_.opaque;
  credentials.nonce_count = ++nonce_count_;
  credentials.algorithm = challenge_.algorithm;
  // Prefers the weaker of the two, as a body may be a stream: TLS is there to protect bodies.
  if (challenge_.offers_auth) {
    credentials.qop = DigestQop::Auth;
  } else if (challenge_.offers_auth_int) {
    credentials.qop = DigestQop::AuthInt;
  }
  if (credentials.qop == DigestQop::Legacy && !is_session(credentials.algorithm)) {
    credentials.cnonce.clear();  // RFC 2617 §3.2.2: no cnonce if the server sent no qop
  }
  credentials.may_encode_user = challenge_.is_utf8;
  credentials.is_user_hashed = challenge_.wants_user_hash;
  if (credentials.is_user_hashed) {
    auto hidden = digest_user_hash(challenge_.algorithm, user_, challenge_.realm);
    if (!hidden) return hidden.error();
    credentials.user = *std::move(hidden);
  }
  auto response = credentials.compute(secret_, method, body);
  if (!response) return response.error();
  credentials.response = *std::move(response);
  return credentials.field();
}

}  // namespace skua
