// SPDX-License-Identifier: MIT
// In: a response's challenges. Out: credentials. Prefers Digest to Basic: it does not reveal the
// password.
#include "client/authorization.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/ascii.hpp"
#include "http/auth/challenge.hpp"
#include "skua/credentials.hpp"

namespace skua::client {

std::vector<std::string_view> values_of(const http::Head& head, std::string_view name) {
  std::vector<std::string_view> values;
  for (const http::FieldLine& line : head.fields) {
    if (ascii::equals_ignoring_case(head.name(line), name)) values.push_back(head.value(line));
  }
  return values;
}

bool offers_basic(std::span<const std::string_view> fields) {
  return std::ranges::any_of(fields, [](std::string_view field) {
    const auto challenges = parse_challenges(field);
    return challenges && std::ranges::any_of(*challenges, [](const Challenge& challenge) {
             return challenge.is("Basic");
           });
  });
}

namespace {

constexpr std::size_t max_known = 64;

DigestSession session(const std::optional<BasicCredentials>& credentials) {
  return credentials ? DigestSession(credentials->user, credentials->password)
                     : DigestSession({}, {});
}

// Reports whether these credentials were the first answer to a challenge; if so, they are wrong.
// Later on, the nonce may have expired, whether or not it is marked stale.
bool was_first_answer(std::string_view sent) {
  const Result<Challenge> parsed = parse_credentials(sent);
  if (!parsed || !parsed->is("Digest")) return false;
  const Result<DigestCredentials> credentials = DigestCredentials::from(*parsed);
  return !credentials || credentials->nonce_count <= 1;
}

}  // namespace

Authorization::Authorization(const AuthorizationFields& fields,
                             std::optional<BasicCredentials> credentials)
    : fields_(&fields), credentials_(std::move(credentials)), digest_(session(credentials_)) {
  if (credentials_ && fields.is_preemptive) scheme_ = Scheme::Basic;
}

Result<std::string> Authorization::field(std::string_view method, std::string_view target,
                                         std::optional<std::string_view> content) {
  if (scheme_ == Scheme::None) return std::string();
  if (scheme_ == Scheme::Basic) return credentials_->field();
  if (!content && digest_.needs_content()) {
    return Error(Errc::Unsupported, "Digest auth-int of a file or stream");
  }
  return digest_.authorize(method, target, content.value_or(""));
}

bool Authorization::learn(const http::Head& head, std::string_view sent) {
  if (head.status == code(fields_->status)) return accept(head, sent);
  if (scheme_ != Scheme::Digest) return false;
  const std::vector<std::string_view> infos = values_of(head, fields_->info);
  // A malformed value carries no next nonce; the current one stays valid.
  if (!infos.empty()) static_cast<void>(digest_.advance(infos.front()));
  return false;
}

bool Authorization::accept(const http::Head& head, std::string_view sent) {
  if (!credentials_) return false;
  const std::vector<std::string_view> asked = values_of(head, fields_->challenge);
  if (digest_.accept(asked)) {
    scheme_ = Scheme::Digest;
    return digest_.is_stale() || !was_first_answer(sent);
  }
  if (!offers_basic(asked)) return false;
  scheme_ = Scheme::Basic;
  return !http::after_scheme(sent, "Basic");
}

Authorization& Authorizations::of(std::string_view server, const BasicCredentials& credentials) {
  std::string key(server);
  key.append(1, '\0').append(credentials.user).append(1, '\0').append(credentials.password);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  if (known_.size() >= max_known) known_.clear();
  return known_.try_emplace(std::move(key), origin_authorization, credentials).first->second;
}

}  // namespace skua::client
