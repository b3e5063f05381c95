// SPDX-License-Identifier: MIT
// In: a request. Out: 401 with a nonce, unless it proves the password for exactly this request.
// The order matters: the proof is checked first, in constant time for all users, and only then the
// nonce. So only clients that know the password learn `stale` (RFC 7616 §3.3) or use memory.
#include "middleware/digest.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "crypto/digest.hpp"
#include "crypto/random.hpp"
#include "http/auth/challenge.hpp"
#include "http/message/request_parts.hpp"
#include "middleware/auth.hpp"

namespace skua::middleware {
namespace {

auth::DigestOptions checked(auth::DigestOptions options) {
  const auto refuse_options = [](const char* why) {
    throw std::invalid_argument("auth: digest " + std::string(why));
  };
  if (!crypto::is_available()) refuse_options("needs OpenSSL, which skua was built without");
  if (!options.lookup) refuse_options("needs a lookup");
  if (options.algorithms.empty()) refuse_options("needs an algorithm");
  if (options.nonce_age <= Duration::zero()) refuse_options("needs a positive nonce_age");
  static_cast<void>(realm_challenge("Digest", options.realm));
  static_cast<void>(realm_challenge("Digest", options.domain));
  for (const DigestAlgorithm algorithm : options.algorithms) {
    if (!digest_user_hash(algorithm, {}, {})) refuse_options("has an unavailable algorithm");
  }
  return options;
}

const std::string& hashed(const auth::DigestSecret& secret, DigestAlgorithm algorithm) noexcept {
  switch (algorithm) {
    case DigestAlgorithm::Md5:
    case DigestAlgorithm::Md5Sess: return secret.md5;
    case DigestAlgorithm::Sha256:
    case DigestAlgorithm::Sha256Sess: return secret.sha256;
    case DigestAlgorithm::Sha512256:
    case DigestAlgorithm::Sha512256Sess: break;
  }
  return secret.sha512_256;
}

// Returns the path and query of a target, which may be in absolute-form. RFC 9112 §3.2.2
std::string_view without_origin(std::string_view target) noexcept {
  const std::size_t slashes = target.find("://");
  if (target.starts_with('/') || slashes == target.npos) return target;
  const std::size_t path = target.find_first_of("/?", slashes + 3);
  return path == target.npos ? std::string_view("/") : target.substr(path);
}

// Guards first run with the head only.
bool lacks_content(const Request& request) {
  return http::RequestAccess::parts(request).may_have_more_content;
}

}  // namespace

DigestVerifier::DigestVerifier(auth::DigestOptions options,
                               std::unique_ptr<const loop::Clock> clock, const std::string& key)
    : options_(checked(std::move(options))),
      clock_(std::move(clock)),
      opaque_(crypto::random_token(8).value()),
      dummy_password_(crypto::random_bytes(16).value()),
      nonces_(key.empty() ? crypto::random_bytes(32).value() : key, options_.nonce_count,
              options_.nonce_age, *clock_, key.empty() ? clock_->now() : loop::Instant()) {}

std::optional<Response> DigestVerifier::check(Request& request) const {
  Verdict verdict = judge(request);
  if (verdict.needs_content) {
    // Content that a handler reads piece by piece cannot be verified beforehand.
    if (!http::RequestAccess::ask_for_content(request)) return challenge(false);
    return std::nullopt;
  }
  if (!verdict.refusal) request.attachments().set(auth::User{std::move(verdict.user)});
  return std::move(verdict.refusal);
}

DigestVerifier::Verdict DigestVerifier::judge(const Request& request, bool is_loaded) const {
  const auto field = find_credentials(request, options_.role);
  if (!field) return {.refusal = challenge(false)};
  const auto parsed = parse_credentials(*field);
  if (!parsed) return {.refusal = challenge(false)};
  const auto credentials = DigestCredentials::from(*parsed);
  if (!credentials || !is_offered(*credentials)) return {.refusal = challenge(false)};
  // RFC 7616 §3.4.6: a proof for another resource is answered with 400.
  if (without_origin(credentials->uri) != without_origin(request.target())) {
    return {.refusal = Response(Status::BadRequest)};
  }
  if (credentials->qop == DigestQop::AuthInt && !is_loaded && lacks_content(request)) {
    return {.needs_content = true};
  }
  auto name = name_of(*credentials);
  const bool is_proven = is_right(*credentials, name, request);
  if (!name || !is_proven) return {.refusal = challenge(false)};
  // A replayed proof earns a fresh nonce, which is useless without the password; a client that
  // retries after a broken connection can use it.
  if (nonces_.use(credentials->nonce, credentials->nonce_count) != NonceStore::Use::Fresh) {
    return {.refusal = challenge(true)};
  }
  return {.user = *std::move(name),
          .proof = credentials->nonce + ":" + std::to_string(credentials->nonce_count)};
}

bool DigestVerifier::is_offered(const DigestCredentials& credentials) const noexcept {
  const auto& offered = options_.algorithms;
  return std::find(offered.begin(), offered.end(), credentials.algorithm) != offered.end() &&
         credentials.realm == options_.realm &&
         (credentials.qop == DigestQop::Auth ||
          (credentials.qop == DigestQop::AuthInt && options_.integrity)) &&
         (!credentials.is_user_hashed || options_.find_user);
}

std::optional<std::string> DigestVerifier::name_of(const DigestCredentials& credentials) const {
  if (!credentials.is_user_hashed) return credentials.user;
  return options_.find_user(credentials.algorithm, credentials.user);
}

bool DigestVerifier::is_right(const DigestCredentials& credentials,
                              const std::optional<std::string>& name,
                              const Request& request) const {
  const auto secret = name ? options_.lookup(*name) : std::nullopt;
  const std::string* const kept = secret ? &hashed(*secret, credentials.algorithm) : nullptr;
  const std::string* const password = secret && secret->password ? &*secret->password : nullptr;
  const bool has_hash = kept != nullptr && !kept->empty();
  const bool is_known = has_hash || password != nullptr;
  // Always hashed, to take the same time in every case.
  const auto key = digest_secret(credentials.algorithm, name ? *name : credentials.user,
                                 options_.realm, password != nullptr ? *password : dummy_password_);
  if (!key) return false;
  const auto expected =
      credentials.compute(has_hash ? *kept : *key, request.method_name(), request.body());
  return expected && crypto::equals(*expected, credentials.response) && is_known;
}

Response DigestVerifier::challenge(bool is_stale) const {
  auto nonce = nonces_.make();
  if (!nonce) return nonce.error();
  DigestChallenge asked;
  asked.realm = options_.realm;
  asked.nonce = *std::move(nonce);
  asked.opaque = opaque_;  // not verified when it comes back: the nonce is signed
  asked.domain = options_.domain;
  asked.offers_auth_int = options_.integrity;
  asked.is_stale = is_stale;
  asked.wants_user_hash = static_cast<bool>(options_.find_user);
  Response response = refuse(options_.role);
  // RFC 7616 §3.7: strongest first, for clients that use the first one they support.
  for (const DigestAlgorithm algorithm : options_.algorithms) {
    asked.algorithm = algorithm;
    add_challenge(response, options_.role, asked.field());
  }
  return response;
}

}  // namespace skua::middleware

namespace skua::auth {

DigestGuard::DigestGuard(DigestOptions options)
    : verifier_(std::make_shared<middleware::DigestVerifier>(
          std::move(options), std::make_unique<loop::SteadyClock>())) {}

std::optional<Response> DigestGuard::operator()(Request& request) const {
  return verifier_->check(request);
}

DigestGuard digest(DigestOptions options) { return DigestGuard(std::move(options)); }

}  // namespace skua::auth
