// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>
#include <map>
#include <string>

#include "client/connect/proxy_settings.hpp"

namespace skua::client {
namespace {

bool lists(std::string_view list, std::string_view host, std::uint16_t port = 443) {
  return NoProxy::parse(list).contains(host, port);
}

TEST(NoProxy, NothingIsListedByNothing) {
  EXPECT_FALSE(NoProxy().contains("example.com", 80));
  for (const char* const list : {"", " ", ",", ", ,\t,", ".", "*.", "..", ":80", "/", "/8"}) {
    EXPECT_FALSE(lists(list, "example.com")) << list;
    EXPECT_FALSE(lists(list, "127.0.0.1")) << list;
    EXPECT_FALSE(lists(list, "")) << list;
  }
}

TEST(NoProxy, ANameStandsForItselfAndAllBelow) {
  for (const char* const list :
       {"example.com", ".example.com", "EXAMPLE.com.", " a, example.com"}) {
    EXPECT_TRUE(lists(list, "example.com")) << list;
    EXPECT_TRUE(lists(list, "Example.COM.")) << list;
    EXPECT_TRUE(lists(list, "a.b.example.com")) << list;
    EXPECT_FALSE(lists(list, "notexample.com")) << list;
    EXPECT_FALSE(lists(list, "example.com.evil.test")) << list;
    EXPECT_FALSE(lists(list, "com")) << list;
    EXPECT_FALSE(lists(list, ".example.com.")) << list;
  }
}

TEST(NoProxy, AStarInFrontStandsForThoseBelowOnly) {
  EXPECT_TRUE(lists("*.example.com", "a.example.com"));
  EXPECT_FALSE(lists("*.example.com", "example.com"));
  EXPECT_FALSE(lists("*ample.com", "example.com"));
}

TEST(NoProxy, AStarStandsForAll) {
  for (const char* const host : {"example.com", "127.0.0.1", "::1", "[::1]", ""}) {
    EXPECT_TRUE(lists("*", host)) << host;
    EXPECT_TRUE(lists("a.example, *", host)) << host;
  }
  EXPECT_TRUE(lists("*:80", "example.com", 80));
  EXPECT_FALSE(lists("*:80", "example.com", 443));
}

TEST(NoProxy, EntriesAreApartByCommasAndSpaces) {
  for (const char* const list : {"a,b,c", "a b c", "a, b ,\tc", ",,a,, b,c,\n"}) {
    for (const char* const host : {"a", "b", "c"}) EXPECT_TRUE(lists(list, host)) << list;
    EXPECT_FALSE(lists(list, "d")) << list;
  }
}

TEST(NoProxy, APortNarrowsAnEntry) {
  for (const auto& [list, host] :
       {std::pair("example.com:8080", "www.example.com"), std::pair("10.0.0.1:8080", "10.0.0.1"),
        std::pair("[::1]:8080", "::1")}) {
    EXPECT_TRUE(lists(list, host, 8080)) << list;
    EXPECT_FALSE(lists(list, host, 80)) << list;
  }
  for (const char* const list : {"example.com:", "example.com:0", "example.com:x",
                                 "example.com:65536", "example.com:80:80"}) {
    EXPECT_FALSE(lists(list, "example.com", 80)) << list;
  }
}

TEST(NoProxy, AddressesAreComparedAsSuch) {
  for (const char* const list : {"::1", "[::1]", "0:0:0:0:0:0:0:1"}) {
    EXPECT_TRUE(lists(list, "::1")) << list;
    EXPECT_TRUE(lists(list, "[::1]")) << list;
    EXPECT_FALSE(lists(list, "::2")) << list;
  }
  EXPECT_TRUE(lists("10.0.0.1", "10.0.0.1"));
  EXPECT_TRUE(lists("10.0.0.1", "::ffff:10.0.0.1"));
  EXPECT_FALSE(lists("10.0.0.1", "10.0.0.10"));
  EXPECT_TRUE(lists("fe80::1", "fe80::1%eth0"));
  // An address has no subdomains, and is not a subdomain of a name.
  EXPECT_FALSE(lists("10.0.0.1", "www.10.0.0.1"));
  EXPECT_FALSE(lists("0.0.1", "10.0.0.1"));
  EXPECT_FALSE(lists("1", "10.0.0.1"));
}

TEST(NoProxy, NetworksHaveTheirAddresses) {
  EXPECT_TRUE(lists("10.0.0.0/8", "10.255.1.2"));
  EXPECT_FALSE(lists("10.0.0.0/8", "11.0.0.0"));
  EXPECT_TRUE(lists("192.168.4.0/22", "192.168.7.255"));
  EXPECT_FALSE(lists("192.168.4.0/22", "192.168.8.0"));
  EXPECT_TRUE(lists("10.1.2.3/32", "10.1.2.3"));
  EXPECT_FALSE(lists("10.1.2.3/32", "10.1.2.2"));
  EXPECT_TRUE(lists("0.0.0.0/0", "8.8.8.8"));
  EXPECT_FALSE(lists("0.0.0.0/0", "::1"));
  EXPECT_TRUE(lists("fd00::/8", "fdff::1"));
  EXPECT_TRUE(lists("[fd00::]/8", "[fd12::1]"));
  EXPECT_FALSE(lists("fd00::/8", "fc00::1"));
  EXPECT_TRUE(lists("::/0", "2001:db8::1"));
  EXPECT_FALSE(lists("::/0", "8.8.8.8"));
  EXPECT_FALSE(lists("10.0.0.0/8", "example.com"));
  for (const char* const list : {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x", "10.0.0.0/8x",
                                 "10.0.0.0/-1", "::/129", "example.com/8", "10/8"}) {
    EXPECT_FALSE(lists(list, "10.0.0.0")) << list;
    EXPECT_FALSE(lists(list, "::")) << list;
  }
}

}  // namespace
namespace {

using Variables = std::map<std::string, std::string>;

Result<ProxySettings, Problem> from(const Variables& variables, std::string_view except = {}) {
  const auto find = [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  return ProxySettings::from(find, except);
}

ProxySettings settings(const Variables& variables, std::string_view except = {}) {
  auto made = from(variables, except);
  EXPECT_TRUE(made) << made.error().text;
  return made ? *made : ProxySettings();
}

std::string host(const std::optional<Proxy>& proxy) { return proxy ? proxy->origin.host : ""; }

const Origin plain{.host = "example.com", .port = 80};
const Origin secure{.host = "example.com", .port = 443, .is_secure = true};

TEST(ProxySettings, AreNoneInAnEmptyEnvironment) {
  const ProxySettings none = settings({});
  EXPECT_FALSE(none.http);
  EXPECT_FALSE(none.https);
  EXPECT_EQ(proxy_use(plain, false, none), ProxyUse::None);
  EXPECT_EQ(proxy_use(secure, false, none), ProxyUse::None);
}

TEST(ProxySettings, EachSchemeHasItsVariable) {
  const ProxySettings both = settings({{"http_proxy", "http://a:1"}, {"https_proxy", "b:2"}});
  EXPECT_EQ(host(both.http), "a");
  EXPECT_EQ(host(both.https), "b");
  EXPECT_EQ(host(settings({{"HTTPS_PROXY", "b"}}).https), "b");
  EXPECT_EQ(host(settings({{"HTTPS_PROXY", "b"}, {"https_proxy", "c"}}).https), "c");
  EXPECT_EQ(host(settings({{"HTTPS_PROXY", "b"}, {"https_proxy", ""}}).https), "b");
}

TEST(ProxySettings, AllIsForThoseThatHaveNone) {
  for (const char* const name : {"all_proxy", "ALL_PROXY"}) {
    const ProxySettings rest = settings({{name, "a"}, {"https_proxy", "b"}});
    EXPECT_EQ(host(rest.http), "a");
    EXPECT_EQ(host(rest.https), "b");
    EXPECT_EQ(host(settings({{name, "a"}}).https), "a");
  }
}

TEST(ProxySettings, ExceptionsThatAreGivenStandInPlaceOfTheVariables) {
  const Variables variables{{"all_proxy", "a"}, {"no_proxy", "example.com"}};
  EXPECT_EQ(proxy_use(plain, false, settings(variables)), ProxyUse::None);
  const ProxySettings given = settings(variables, "example.net");
  EXPECT_EQ(proxy_use(plain, false, given), ProxyUse::Forward);
  EXPECT_EQ(proxy_use({.host = "example.net", .port = 80}, false, given), ProxyUse::None);
  EXPECT_EQ(proxy_use({.host = "127.0.0.1", .port = 80}, false, given), ProxyUse::None);
}

// CVE-2016-5385 and its kin
TEST(ProxySettings, WhatAFieldOfARequestCanSetIsNotRead) {
  EXPECT_FALSE(settings({{"HTTP_PROXY", "evil"}}).http);
}

TEST(ProxySettings, SayWhichVariableIsWrong) {
  const auto socks = from({{"ALL_PROXY", "socks4://user:secret@proxy:1080"}});
  ASSERT_FALSE(socks);
  EXPECT_EQ(socks.error().code(), Errc::Unsupported);
  EXPECT_EQ(socks.error().text,
            "could not use the proxy socks4://proxy: only proxies of http://, https://, socks5:// "
            "and socks5h:// are supported (in the variable ALL_PROXY)");
  EXPECT_EQ(from({{"https_proxy", "http://"}}).error().code(), Errc::MalformedUrl);
  // Variables that are not used are not parsed.
  EXPECT_TRUE(from({{"ALL_PROXY", "socks4://x"}, {"http_proxy", "a"}, {"https_proxy", "a"}}));
}

TEST(ProxySettings, SocksAlwaysUsesATunnel) {
  const ProxySettings socks = settings({{"ALL_PROXY", "socks5://proxy"}, {"no_proxy", ".test"}});
  EXPECT_EQ(proxy_use(plain, false, socks), ProxyUse::Tunnel);
  EXPECT_EQ(proxy_use(plain, true, socks), ProxyUse::Tunnel);
  EXPECT_EQ(proxy_use({.host = "a.test", .port = 80}, false, socks), ProxyUse::None);
}

TEST(ProxySettings, ExceptionsAreReachedStraight) {
  for (const char* const name : {"no_proxy", "NO_PROXY"}) {
    const ProxySettings some = settings({{"all_proxy", "a"}, {name, "example.org, .test"}});
    EXPECT_EQ(proxy_use(plain, false, some), ProxyUse::Forward);
    EXPECT_EQ(proxy_use({.host = "www.example.org", .port = 80}, false, some), ProxyUse::None);
  }
  const ProxySettings lower =
      settings({{"all_proxy", "a"}, {"no_proxy", "x"}, {"NO_PROXY", "example.com"}});
  EXPECT_EQ(proxy_use(plain, false, lower), ProxyUse::Forward);
}

TEST(ProxySettings, ThisMachineIsAnException) {
  const ProxySettings all = settings({{"all_proxy", "a"}});
  for (const char* const name : {"localhost", "x.localhost", "127.1.2.3", "::1", "[::1]"}) {
    EXPECT_EQ(proxy_use({.host = name, .port = 80}, false, all), ProxyUse::None) << name;
  }
  ProxySettings told;  // an explicit proxy has no implicit exceptions
  told.http = Proxy::parse("a").value();
  EXPECT_EQ(proxy_use({.host = "localhost", .port = 80}, false, told), ProxyUse::Forward);
}

TEST(ProxySettings, WhatGoesHow) {
  const ProxySettings all = settings({{"all_proxy", "a"}});
  EXPECT_EQ(proxy_use(plain, false, all), ProxyUse::Forward);
  EXPECT_EQ(proxy_use(plain, true, all), ProxyUse::Tunnel);
  EXPECT_EQ(proxy_use(secure, false, all), ProxyUse::Tunnel);
  EXPECT_EQ(proxy_use(secure, true, all), ProxyUse::Tunnel);
  EXPECT_EQ(proxy_use({.host = "x", .unix_path = "/run/x"}, false, all), ProxyUse::None);
}

TEST(Proxies, AreThereOnceForAllThatGoThroughThem) {
  const Proxies one(settings({{"all_proxy", "http://user:pw@a:1"}}));
  const auto forward = one.route(plain, false);
  EXPECT_EQ(forward.use, ProxyUse::Forward);
  ASSERT_NE(forward.proxy, nullptr);
  EXPECT_EQ(forward.proxy->proxy().user, "user");
  EXPECT_EQ(one.route(secure, false).proxy, forward.proxy);
  const Proxies two(settings({{"http_proxy", "a:1"}, {"https_proxy", "b:1"}}));
  EXPECT_NE(two.route(secure, false).proxy, two.route(plain, false).proxy);
  EXPECT_EQ(two.route({.host = "localhost", .port = 1}, false).proxy, nullptr);
}

}  // namespace
}  // namespace skua::client
