// SPDX-License-Identifier: MIT
// In: a proxy URL or a list of exceptions, a line feed, and a host. Checked: a proxy survives being
// written and parsed, and errors about it show no password; a host that matches a list also matches
// a longer one, and in any case.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "client/connect/proxy.hpp"
#include "client/connect/proxy_settings.hpp"

namespace {

using skua::client::NoProxy;
using skua::client::Proxy;

void check(bool holds) {
  if (!holds) std::abort();
}

void check_proxy(std::string_view text) {
  const auto proxy = Proxy::parse(text);
  if (!proxy) {
    check(!proxy.error().text.empty());
    check(proxy.error().text.find('@') == std::string::npos);
    return;
  }
  check(proxy->origin.port != 0 && !proxy->origin.host.empty());
  if (proxy->origin.host.find('%') != std::string::npos) return;  // a URL encodes a zone
  const auto again = Proxy::parse(proxy->to_string());
  check(again && again->origin == proxy->origin && !again->has_credentials());
}

void check_list(std::string_view list, std::string_view host) {
  const NoProxy rules = NoProxy::parse(list);
  check(!NoProxy().contains(host, 80));
  if (!rules.contains(host, 80)) return;
  std::string upper(host);
  std::ranges::transform(upper, upper.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  check(rules.contains(upper, 80));
  check(NoProxy::parse(std::string(list) + ",more.example").contains(host, 80));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(input.find('\n'), input.size());
  check_proxy(input.substr(0, end));
  check_list(input.substr(0, end), input.substr(std::min(end + 1, input.size())));
  return 0;
}
