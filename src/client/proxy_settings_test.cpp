// SPDX-License-Identifier: MIT
#include "client/proxy_settings.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace skua::client {
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
  const auto socks = from({{"ALL_PROXY", "socks5://user:secret@proxy:1080"}});
  ASSERT_FALSE(socks);
  EXPECT_EQ(socks.error().code(), Errc::Unsupported);
  EXPECT_EQ(socks.error().text,
            "could not use the proxy socks5://proxy: only proxies of http:// and https:// are "
            "supported (in the variable ALL_PROXY)");
  EXPECT_EQ(from({{"https_proxy", "http://"}}).error().code(), Errc::MalformedUrl);
  // Variables that are not used are not parsed.
  EXPECT_TRUE(from({{"ALL_PROXY", "socks5://x"}, {"http_proxy", "a"}, {"https_proxy", "a"}}));
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
