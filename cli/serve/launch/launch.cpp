// SPDX-License-Identifier: MIT
// In: where a server listens. Out: the URLs for browsers of this machine and of others.
#include "serve/launch/launch.hpp"

#include <CLI/CLI.hpp>

#include <array>
#include <cstdio>
#include <string_view>

#include "common_options.hpp"
#include "serve/launch/browser.hpp"
#include "serve/launch/qr_code.hpp"
#include "skua/url.hpp"

namespace skua::cli {
namespace {

constexpr std::string_view all_ipv4 = "0.0.0.0";
constexpr std::string_view all_ipv6 = "[::]";

std::string with_host(const std::string& url, std::string_view host, std::string_view other) {
  std::string text = url;
  const std::size_t at = text.find("://");
  if (at != text.npos && std::string_view(text).substr(at + 3).starts_with(host)) {
    text.replace(at + 3, host.size(), other);
  }
  return text;
}

}  // namespace

void declare_launch(CLI::App& parser, ServeOptions& options) {
  parser.add_flag("--open", options.open, "Open the site in the browser")
      ->excludes(parser.get_option("--user"));
  CLI::Option* const qr = parser.add_flag(
      "--qr", options.qr, "Print a QR code of the URL for other machines, see --public");
  if (!has_qr_codes()) disable(*qr, "libqrencode");
}

std::string browser_url(const std::string& url) {
  if (!url.starts_with("http")) return {};
  return with_host(with_host(url, all_ipv4, "127.0.0.1"), all_ipv6, "[::1]");
}

std::string public_url(const std::string& url, const std::vector<Address>& addresses) {
  const auto parsed = Url::parse(url);
  if (!parsed) return {};
  for (const std::string_view all : {all_ipv4, all_ipv6}) {
    if (with_host(url, all, "") == url) continue;
    for (const Address& address : addresses) {
      std::array<char, Address::max_text_bytes> text;
      const std::string_view host = address.format_host(text);
      const bool is_chance = address.is_link_local() || host.starts_with("169.254.");
      if (!address.is_loopback() && !is_chance) return with_host(url, all, host);
    }
    return {};
  }
  const auto own = Address::parse(parsed->hostname(), 0);
  return own && !own->is_loopback() ? url : std::string();
}

void announce_qr_code(const ServeOptions& options, const std::string& url,
                      const std::vector<Address>& addresses, bool has_colours) {
  if (!options.qr) return;
  const std::string reached = public_url(url, addresses);
  if (reached.empty()) {
    std::fputs("skua: --qr: no other machine reaches this server; add --public\n", stderr);
    return;
  }
  const auto code = make_qr_code(reached);
  if (!code) {
    std::fprintf(stderr, "skua: --qr: %s\n", code.error().message().c_str());
    return;
  }
  const std::string drawn = draw_qr_code(*code, has_colours);
  std::fprintf(stderr, "%s%s\n", drawn.c_str(), reached.c_str());
}

}  // namespace skua::cli
