// SPDX-License-Identifier: MIT
// A proxy's challenges in, the field that answers them out.
#include "client/proxy_access.hpp"

#include <algorithm>
#include <utility>

#include "base/ascii.hpp"
#include "http/challenge.hpp"

namespace skua::client {
namespace {

std::vector<std::string_view> values_of(const http::Head& head, std::string_view name) {
  std::vector<std::string_view> values;
  for (const http::FieldLine& line : head.fields) {
    if (ascii::equals_ignoring_case(head.name(line), name)) values.push_back(head.value(line));
  }
  return values;
}

bool offers_basic(const std::vector<std::string_view>& fields) {
  return std::ranges::any_of(fields, [](std::string_view field) {
    const auto challenges = parse_challenges(field);
    return challenges && std::ranges::any_of(*challenges, [](const Challenge& challenge) {
             return challenge.is("Basic");
           });
  });
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
    return digest_.is_stale() || !http::after_scheme(sent, "Digest");
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
