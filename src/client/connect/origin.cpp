// SPDX-License-Identifier: MIT
#include "client/connect/origin.hpp"

#include <algorithm>

#include "base/ascii.hpp"

namespace skua::client {

std::string Origin::to_string() const {
  if (!unix_path.empty()) return "unix:" + unix_path;
  const bool lacks_brackets = host.find(':') != std::string::npos && !host.starts_with('[');
  const std::string name = lacks_brackets ? "[" + host + "]" : host;
  return name + ":" + std::to_string(port);
}

std::string Origin::key() const {
  std::string key = to_string();
  if (is_secure) key.append(" tls ").append(host);
  return key;
}

Origin origin_of(const Url& url, const std::string& unix_path) {
  Origin origin;
  origin.host = url.hostname();
  std::ranges::transform(origin.host, origin.host.begin(), ascii::to_lower);
  origin.port = url.effective_port().value_or(0);
  origin.is_secure = url.scheme() == "https" || url.scheme() == "wss";
  origin.unix_path = unix_path;
  return origin;
}

}  // namespace skua::client
