// SPDX-License-Identifier: MIT
// In: the text of a setting. Out: a proxy. Malformed text is never shown, because it may contain a
// password anywhere.
#include "client/connect/proxy.hpp"

#include <optional>
#include <utility>

#include "client/problem.hpp"
#include "skua/credentials.hpp"
#include "skua/url.hpp"

namespace skua::client {
namespace {

Problem malformed(const std::string& why) {
  return could_not("use the proxy", Error(Errc::MalformedUrl, "proxy"), why);
}

}  // namespace

Result<Proxy, Problem> Proxy::parse(std::string_view text) {
  const bool has_scheme = text.find("://") != std::string_view::npos;
  const auto url = Url::parse(has_scheme ? std::string(text) : "http://" + std::string(text));
  if (!url || url->host().empty()) {
    return malformed(
        "it must be http://host:port, with special characters of a name or a password "
        "percent-encoded");
  }
  if (url->scheme() != "http" && url->scheme() != "https") {
    const std::string shown = std::string(url->scheme()) + "://" + std::string(url->host());
    return could_not("use the proxy " + shown, Error(Errc::Unsupported, "proxy"),
                     "only proxies of http:// and https:// are supported");
  }
  const bool has_path = !url->path().empty() && url->path() != "/";
  if (has_path || url->has_query() || url->has_fragment()) {
    return malformed("a proxy has neither a path nor a query");
  }
  Proxy proxy;
  proxy.origin.host = url->hostname();
  proxy.origin.port = url->effective_port().value_or(0);
  proxy.origin.is_secure = url->scheme() == "https";
  if (proxy.origin.port == 0) return malformed("its port cannot be 0");
  proxy.user = url->user();
  proxy.password = url->password();
  if (!BasicCredentials{proxy.user, proxy.password}.field()) {
    return malformed("its name or password has a character that cannot be sent");
  }
  return proxy;
}

std::string Proxy::to_string() const {
  return (origin.is_secure ? "https://" : "http://") + origin.to_string();
}

// In: a proxy. Out: the state of authentication to it, which starts with its credentials, if any.

namespace {

std::optional<BasicCredentials> credentials_of(const Proxy& proxy) {
  if (!proxy.has_credentials()) return std::nullopt;
  return BasicCredentials{proxy.user, proxy.password};
}

}  // namespace

ProxyAccess::ProxyAccess(Proxy proxy)
    : proxy_(std::move(proxy)), authorization_(proxy_authorization, credentials_of(proxy_)) {}

}  // namespace skua::client
