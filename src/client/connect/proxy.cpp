// SPDX-License-Identifier: MIT
// In: the text of a setting. Out: a proxy. Malformed text is never shown, because it may contain a
// password anywhere.
#include "client/connect/proxy.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "client/connect/socks5.hpp"
#include "client/problem.hpp"
#include "skua/credentials.hpp"
#include "skua/url.hpp"

namespace skua::client {
namespace {

constexpr std::uint16_t socks_port = 1080;

struct Scheme {
  std::string_view name{};
  ProxyKind kind = ProxyKind::Http;
};

constexpr std::array<Scheme, 4> schemes{{{"http", ProxyKind::Http},
                                         {"https", ProxyKind::Http},
                                         {"socks5", ProxyKind::Socks5},
                                         {"socks5h", ProxyKind::Socks5h}}};

// RFC 1929 §2; RFC 7617 §2
bool can_be_sent(const Proxy& proxy) {
  if (!proxy.is_socks()) return BasicCredentials{proxy.user, proxy.password}.field().has_value();
  return proxy.user.size() <= Socks5::max_text_bytes &&
         proxy.password.size() <= Socks5::max_text_bytes;
}

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
  const auto scheme = std::ranges::find(schemes, url->scheme(), &Scheme::name);
  if (scheme == schemes.end()) {
    const std::string shown = std::string(url->scheme()) + "://" + std::string(url->host());
    return could_not("use the proxy " + shown, Error(Errc::Unsupported, "proxy"),
                     "only proxies of http://, https://, socks5:// and socks5h:// are supported");
  }
  const bool has_path = !url->path().empty() && url->path() != "/";
  if (has_path || url->has_query() || url->has_fragment()) {
    return malformed("a proxy has neither a path nor a query");
  }
  Proxy proxy;
  proxy.kind = scheme->kind;
  proxy.origin.host = url->hostname();
  proxy.origin.port =
      proxy.is_socks() ? url->port().value_or(socks_port) : url->effective_port().value_or(0);
  proxy.origin.is_secure = url->scheme() == "https";
  if (proxy.origin.port == 0) return malformed("its port cannot be 0");
  proxy.user = url->user();
  proxy.password = url->password();
  if (!can_be_sent(proxy)) {
    return malformed(proxy.is_socks()
                         ? "its name or password is longer than the 255 bytes that SOCKS allows"
                         : "its name or password has a character that cannot be sent");
  }
  return proxy;
}

std::string Proxy::to_string() const {
  const std::string_view scheme = kind == ProxyKind::Socks5    ? "socks5://"
                                  : kind == ProxyKind::Socks5h ? "socks5h://"
                                  : origin.is_secure           ? "https://"
                                                               : "http://";
  return std::string(scheme).append(origin.to_string());
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
