// SPDX-License-Identifier: MIT
// In: the text of an upstream server. Out: its parts.
#include "proxy/server_url.hpp"

#include <stdexcept>
#include <utility>

#include "client/connect/origin.hpp"
#include "skua/address.hpp"
#include "skua/error.hpp"

namespace skua::proxy {
namespace {

constexpr std::string_view unix_scheme = "unix:";
constexpr std::string_view h2c_scheme = "h2c://";

Url read_url(std::string_view text, std::string_view http) {
  Result<Url> url = Url::parse(http);
  if (!url) refuse(text, "it is not a URL");
  if (url->scheme() != "http" && url->scheme() != "https") {
    refuse(text, "it has to begin with http://, https://, h2c:// or unix:/");
  }
  if (url->host().empty()) refuse(text, "it has no host");
  if (url->has_userinfo()) refuse(text, "it must not have a user or a password");
  if (url->has_query() || url->has_fragment()) refuse(text, "it must not have a query or fragment");
  return *std::move(url);
}

std::optional<std::string> base_of(const Url& url) {
  std::string_view path = url.path();
  if (path.empty()) return std::nullopt;
  while (path.ends_with('/')) path.remove_suffix(1);
  return std::string(path);
}

}  // namespace

void refuse(std::string_view text, const std::string& why) {
  throw std::invalid_argument("upstream '" + std::string(text) + "': " + why);
}

ServerUrl ServerUrl::parse(std::string_view text) {
  ServerUrl server;
  server.text = text;
  if (text.starts_with(unix_scheme)) {
    server.unix_socket = text.substr(unix_scheme.size());
    if (!server.unix_socket.starts_with('/')) {
      refuse(text, "the path of a socket has to begin with a slash");
    }
    server.url = Url::parse("http://localhost").value();
    return server;
  }
  server.is_http2 = text.starts_with(h2c_scheme);
  server.url = server.is_http2
                   ? read_url(text, "http://" + std::string(text.substr(h2c_scheme.size())))
                   : read_url(text, text);
  server.base = base_of(server.url);
  return server;
}

std::string ServerUrl::name() const { return client::origin_of(url, unix_socket).to_string(); }

// The resolver of skua knows localhost.
bool ServerUrl::has_name() const {
  if (!unix_socket.empty()) return false;
  const std::string host = url.hostname();
  return !Address::parse(host, 0) && host != "localhost" && !host.ends_with(".localhost");
}

}  // namespace skua::proxy
