// SPDX-License-Identifier: MIT
// In: options as the program gives them. Out: checked ones; the URL is taken apart.
#include "redis/settings.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <stdexcept>
#include <utility>

#include "base/ascii.hpp"
#include "skua/url.hpp"

namespace skua::redis {
namespace {

constexpr std::uint16_t default_port = 6379;
constexpr std::string_view unix_prefix = "unix:";

// Says what is wrong, without the URL, which may hold a password.
[[noreturn]] void refuse(const char* why) {
  throw std::invalid_argument(std::string("redis::Options: ") + why);
}

template <class T>
std::optional<T> number_of(std::string_view text) noexcept {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Endpoint read_url(const std::string& text, Settings& settings, bool& is_secure) {
  if (text.starts_with(unix_prefix)) {
    if (text.size() == unix_prefix.size()) refuse("the path of the Unix socket is empty");
    return {.path = text.substr(unix_prefix.size())};
  }
  const auto url = Url::parse(text);
  if (!url) refuse("the URL is malformed");
  if (url->scheme() != "redis" && url->scheme() != "rediss") {
    refuse("the URL begins with neither redis:// nor rediss:// nor unix:");
  }
  if (url->host().empty()) refuse("the URL has no host");
  if (url->has_query() || url->has_fragment()) refuse("the URL has a query or a fragment");
  is_secure = url->scheme() == "rediss";
  settings.user = url->user();
  settings.password = url->password();
  std::string_view path = url->path();
  if (path.starts_with('/')) path.remove_prefix(1);
  const auto database = number_of<std::uint32_t>(path);
  if (!path.empty() && !database) refuse("the path of the URL is not the number of a database");
  settings.database = database.value_or(0);
  return {.host = url->hostname(), .port = url->port().value_or(default_port)};
}

void check(const Options& options, const Settings& settings) {
  const bool is_name_plain =
      std::ranges::all_of(options.client_name, [](char c) { return c > ' ' && c < '\x7f'; });
  if (!is_name_plain) refuse("client_name is not plain ASCII without spaces");
  if (options.mode == Mode::Sentinel && options.master.empty()) refuse("master is empty");
  if (options.mode == Mode::Cluster && settings.database != 0) {
    refuse("a cluster has database 0 only");
  }
  if (options.mode == Mode::Single && !options.nodes.empty()) {
    refuse("nodes are for Mode::Sentinel and Mode::Cluster");
  }
  if (options.max_waiting == 0 || options.max_connections == 0 || options.max_reply_depth == 0) {
    refuse("a bound is zero");
  }
  const bool has_times = options.timeout > Duration::zero() && options.connect > Duration::zero() &&
                         options.stall > Duration::zero();
  if (!has_times) refuse("timeout, connect and stall have to be positive");
  if (options.min_backoff <= Duration::zero() || options.max_backoff < options.min_backoff) {
    refuse("min_backoff has to be positive, and at most max_backoff");
  }
  if (!settings.user.empty() && settings.password.empty()) refuse("a user has no password");
}

}  // namespace

std::string Endpoint::to_string() const {
  if (!path.empty()) return std::string(unix_prefix) + path;
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::optional<Endpoint> parse_endpoint(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const auto port = number_of<std::uint16_t>(text.substr(colon + 1));
  if (!port || *port == 0) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) return std::nullopt;
  return Endpoint{.host = std::string(host), .port = *port};
}

std::shared_ptr<const Settings> read_settings(Options options) {
  const auto settings = std::make_shared<Settings>();
  bool is_secure = false;
  settings->endpoints.push_back(read_url(options.url, *settings, is_secure));
  for (const std::string& node : options.nodes) {
    auto endpoint = parse_endpoint(node);
    if (!endpoint) refuse("a node is not a host and a port");
    settings->endpoints.push_back(*std::move(endpoint));
  }
  if (!options.user.empty()) settings->user = options.user;
  if (!options.password.empty()) settings->password = options.password;
  check(options, *settings);
  if (is_secure) settings->tls = TlsConnector::create(options.tls).value();
  settings->options = std::move(options);
  return settings;
}

}  // namespace skua::redis
