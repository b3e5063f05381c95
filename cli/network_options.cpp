// SPDX-License-Identifier: MIT
// The options of all commands that are clients: how connections are made.
#include "network_options.hpp"

#include <CLI/CLI.hpp>

#include <string>

#include "client/connect/proxy.hpp"
#include "skua/address.hpp"
#include "skua/url.hpp"

namespace skua::cli {

std::string proxy_url(const std::string& text) {
  std::string whole = text.starts_with(':') ? "localhost" + text : text;
  if (whole.find("://") == whole.npos) whole.insert(0, "http://");
  if (const Result<Url> url = Url::parse_lenient(whole)) whole = url->to_string();
  const Result<client::Proxy, Problem> proxy = client::Proxy::parse(whole);
  if (!proxy) throw CLI::ValidationError("--proxy", proxy.error().text);
  return whole;
}

namespace {

void declare_proxies(CLI::App& parser, ProxyOptions& proxy) {
  parser
      .add_option_function<std::string>(
          "--proxy",
          [&proxy](const std::string& text) {
            proxy.url = proxy_url(text);
            proxy.from_environment = false;
          },
          "Use this proxy instead of http_proxy, https_proxy and ALL_PROXY")
      ->option_text("URL");
  parser
      .add_option_function<std::string>(
          "--no-proxy",
          [&proxy](const std::string& rules) {
            proxy.except = rules;
            if (rules == "*") proxy.from_environment = false;
          },
          "Bypass the proxy for these hosts (example.com,10.0.0.0/8); * for all")
      ->option_text("RULES");
}

// Names are checked when connecting: an interface may come and go.
void check_interface(const ClientOptions& client) {
  const Result<Address> address = Address::parse(client.network_interface, 0);
  if (!address || client.ip_versions == IpVersions::Any) return;
  const bool is_four = address->family() == Address::Family::Ipv4;
  if (is_four == (client.ip_versions == IpVersions::Ipv4)) return;
  throw CLI::ValidationError("--interface", "'" + client.network_interface + "' is not an IPv" +
                                                (is_four ? "6" : "4") + " address");
}

void declare_addresses(CLI::App& parser, ClientOptions& client) {
  CLI::Option* const four =
      parser
          .add_flag_callback(
              "-4,--ipv4", [&client] { client.ip_versions = IpVersions::Ipv4; },
              "Connect to IPv4 addresses only")
          ->option_text(" ");
  parser
      .add_flag_callback(
          "-6,--ipv6", [&client] { client.ip_versions = IpVersions::Ipv6; },
          "Connect to IPv6 addresses only")
      ->excludes(four)
      ->option_text(" ");
  // Options are processed in the order of their declaration, so the IP version is known here.
  parser
      .add_option_function<std::string>(
          "--interface",
          [&client](const std::string& name) {
            client.network_interface = name;
            check_interface(client);
          },
          "Connect from this network interface, or address of this machine")
      ->option_text("NAME");
}

}  // namespace

void declare_network(CLI::App& parser, ClientOptions& client) {
  declare_proxies(parser, client.proxy);
  declare_addresses(parser, client);
}

}  // namespace skua::cli
