// SPDX-License-Identifier: MIT
// In: a proxy. Out: the state of authentication to it, which starts with its credentials, if any.
#include "client/proxy_access.hpp"

#include <optional>
#include <utility>

namespace skua::client {
namespace {

std::optional<BasicCredentials> credentials_of(const Proxy& proxy) {
  if (!proxy.has_credentials()) return std::nullopt;
  return BasicCredentials{proxy.user, proxy.password};
}

}  // namespace

ProxyAccess::ProxyAccess(Proxy proxy)
    : proxy_(std::move(proxy)), authorization_(proxy_authorization, credentials_of(proxy_)) {}

}  // namespace skua::client
