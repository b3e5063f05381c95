// SPDX-License-Identifier: MIT
// A proxy's challenges in, the field that answers them out.
#include "client/proxy_access.hpp"

#include <utility>

#include "client/challenges.hpp"
#include "http/challenge.hpp"

namespace skua::client {
namespace {

// Whether these credentials were the first answer to a challenge: then another name or password is
// wanted. After that the nonce may be over, whether it is called stale or not.
bool was_first_answer(std::string_view sent) {
  const Result<Challenge> parsed = parse_credentials(sent);
  if (!parsed || !parsed->is("Digest")) return false;
  const Result<DigestCredentials> credentials = DigestCredentials::from(*parsed);
  return !credentials || credentials->nonce_count <= 1;
}

}  // namespace

ProxyAccess::ProxyAccess(Proxy proxy)
    : proxy_(std::move(proxy)), digest_(proxy_.user, proxy_.password) {
  if (!proxy_.has_credentials()) return;
  basic_ = BasicCredentials{proxy_.user, proxy_.password}.field().value();
  scheme_ = Scheme::Basic;
}

Result<std::string> ProxyAccess::authorize(std::string_view method, std::string_view target) {
  if (scheme_ == Scheme::Digest) return digest_.authorize(method, target);
  return basic_;
}

bool ProxyAccess::accept(const http::Head& response, std::string_view sent) {
  if (scheme_ == Scheme::None) return false;
  const std::vector<std::string_view> fields = values_of(response, "Proxy-Authenticate");
  if (digest_.accept(fields)) {
    scheme_ = Scheme::Digest;
    return digest_.is_stale() || !was_first_answer(sent);
  }
  if (!offers_basic(fields)) return false;
  scheme_ = Scheme::Basic;
  return !http::after_scheme(sent, "Basic");
}

void ProxyAccess::note(const http::Head& response) {
  if (scheme_ != Scheme::Digest) return;
  const auto infos = values_of(response, "Proxy-Authentication-Info");
  // What cannot be read is not heeded: the proxy says 407 to a nonce that is over.
  if (!infos.empty()) static_cast<void>(digest_.advance(infos.front()));
}

}  // namespace skua::client
