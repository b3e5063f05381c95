// SPDX-License-Identifier: MIT
// In: what a client sends in Forwarded or X-Forwarded-For. Checked: once a trusted proxy has added
// its element, on the same line or on another, nothing that the client has sent changes what that
// element says; and without it, only a client that is named by a trusted hop is believed.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/message/forwarded.hpp"
#include "http/uri/authority.hpp"
#include "skua/testing.hpp"

namespace {

using skua::Address;
using skua::ForwardedFields;
using skua::TrustedProxies;

void check(bool holds) {
  if (!holds) std::abort();
}

const TrustedProxies& proxies(ForwardedFields kind) {
  static const auto networks = skua::parse_networks("10.0.0.0/8\n").value();
  static const TrustedProxies standard(
      {.networks = networks, .forwarded = ForwardedFields::Forwarded});
  static const TrustedProxies others(
      {.networks = networks, .forwarded = ForwardedFields::XForwarded});
  return kind == ForwardedFields::Forwarded ? standard : others;
}

skua::http::Origin origin_of(
    const std::vector<std::pair<std::string_view, std::string_view>>& fields, ForwardedFields kind,
    std::string& kept_host) {
  skua::testing::FakeRequest fake("GET /");
  for (const auto& [name, value] : fields) fake.header(name, value);
  skua::http::Origin known{.client = Address::parse("10.0.0.1", 80).value()};
  skua::http::believe(*skua::http::RequestAccess::parts(fake.request()).head, proxies(kind), known);
  check(known.host.empty() || skua::http::is_authority(known.host));
  kept_host = known.host;
  return known;
}

void check_kind(std::string_view sent, ForwardedFields kind) {
  const bool is_standard = kind == ForwardedFields::Forwarded;
  const std::string_view name = is_standard ? "Forwarded" : "X-Forwarded-For";
  const std::string_view own =
      is_standard ? "for=\"192.0.2.1:7\";proto=https;host=\"a.example:8\"" : "192.0.2.1:7";
  const Address client = Address::parse("192.0.2.1", 7).value();
  std::string host;
  for (const bool is_on_one_line : {true, false}) {
    const std::string joined = std::string(sent) + ", " + std::string(own);
    const auto known = is_on_one_line ? origin_of({{name, joined}}, kind, host)
                                      : origin_of({{name, sent}, {name, own}}, kind, host);
    check(known.client == client);
    check(known.is_secure == is_standard && host == (is_standard ? "a.example:8" : ""));
  }
  // However many hops there are, each is named by a trusted one, or is the last.
  const auto alone = origin_of({{name, sent}}, kind, host);
  check(alone.client.is_ip());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 2000) return 0;
  std::string sent(reinterpret_cast<const char*>(data), size);
  for (char& c : sent) {
    if (!skua::ascii::is_field_value(c)) c = ' ';  // the parser of heads lets nothing else through
  }
  check_kind(sent, ForwardedFields::Forwarded);
  check_kind(sent, ForwardedFields::XForwarded);
  return 0;
}
