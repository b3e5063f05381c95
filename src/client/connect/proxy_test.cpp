// SPDX-License-Identifier: MIT
#include "client/connect/proxy.hpp"

#include <gtest/gtest.h>

namespace skua::client {
namespace {

Proxy parsed(std::string_view text) {
  const auto proxy = Proxy::parse(text);
  EXPECT_TRUE(proxy) << text;
  return proxy ? *proxy : Proxy();
}

Problem refusal(std::string_view text) {
  const auto proxy = Proxy::parse(text);
  EXPECT_FALSE(proxy) << text;
  return proxy ? Problem() : proxy.error();
}

TEST(Proxy, IsReadFromAUrl) {
  const Proxy plain = parsed("http://proxy.example:3128");
  EXPECT_EQ(plain.origin, (Origin{.host = "proxy.example", .port = 3128}));
  EXPECT_FALSE(plain.has_credentials());
  EXPECT_EQ(plain.to_string(), "http://proxy.example:3128");
  const Proxy secure = parsed("HTTPS://[2001:db8::1]/");
  EXPECT_EQ(secure.origin, (Origin{.host = "2001:db8::1", .port = 443, .is_secure = true}));
  EXPECT_EQ(secure.to_string(), "https://[2001:db8::1]:443");
  EXPECT_EQ(parsed("http://10.0.0.1").origin.port, 80);
}

TEST(Proxy, NeedsNoScheme) {
  EXPECT_EQ(parsed("10.0.0.1:3128"), parsed("http://10.0.0.1:3128"));
  EXPECT_EQ(parsed("proxy.example:3128"), parsed("http://proxy.example:3128"));
  EXPECT_EQ(parsed("user:pw@proxy.example:3128"), parsed("http://user:pw@proxy.example:3128"));
  EXPECT_EQ(parsed("proxy"), parsed("http://proxy:80"));
  EXPECT_EQ(parsed("[::1]:8080"), parsed("http://[::1]:8080"));
}

TEST(Proxy, HasANameAndAPasswordThatNobodyIsShown) {
  const Proxy proxy = parsed("http://us%40er:p%3Aw%2F@proxy.example:3128");
  EXPECT_EQ(proxy.user, "us@er");
  EXPECT_EQ(proxy.password, "p:w/");
  EXPECT_TRUE(proxy.has_credentials());
  EXPECT_EQ(proxy.to_string(), "http://proxy.example:3128");
  EXPECT_TRUE(parsed("http://:token@proxy").has_credentials());
  EXPECT_FALSE(parsed("http://@proxy").has_credentials());
}

TEST(Proxy, MaySpeakSocks) {
  const Proxy here = parsed("socks5://proxy.example:1081");
  EXPECT_EQ(here.kind, ProxyKind::Socks5);
  EXPECT_EQ(here.origin, (Origin{.host = "proxy.example", .port = 1081}));
  EXPECT_EQ(here.to_string(), "socks5://proxy.example:1081");
  const Proxy there = parsed("SOCKS5H://us%3Aer:p%0aw@[::1]");
  EXPECT_EQ(there.kind, ProxyKind::Socks5h);
  EXPECT_EQ(there.origin, (Origin{.host = "::1", .port = 1080}));
  EXPECT_EQ(there.user, "us:er");
  EXPECT_EQ(there.password, "p\nw");
  EXPECT_EQ(there.to_string(), "socks5h://[::1]:1080");
  const std::string most(255, 'x');
  EXPECT_TRUE(Proxy::parse("socks5://" + most + ":" + most + "@proxy"));
  for (const std::string& text :
       {"socks5://" + most + "secret:@proxy", "socks5://u:" + most + "secret@proxy"}) {
    EXPECT_EQ(refusal(text).text,
              "could not use the proxy: its name or password is longer than the 255 bytes that "
              "SOCKS allows");
  }
  EXPECT_EQ(refusal("socks5://proxy:0").code(), Errc::MalformedUrl);
  EXPECT_EQ(refusal("socks5://proxy/path").code(), Errc::MalformedUrl);
}

TEST(Proxy, OtherKindsAreRefusedInWords) {
  const Problem socks = refusal("socks4://user:secret@proxy.example:1080");
  EXPECT_EQ(socks.code(), Errc::Unsupported);
  EXPECT_EQ(socks.text,
            "could not use the proxy socks4://proxy.example: only proxies of http://, https://, "
            "socks5:// and socks5h:// are supported");
  EXPECT_EQ(refusal("ftp://proxy.example").code(), Errc::Unsupported);
}

TEST(Proxy, NonsenseIsRefusedWithoutShowingIt) {
  for (const char* const text :
       {"", "http://", "http://user:secret@", "http://user:secret", "http://user:se@cret@proxy",
        "http://user:sec ret@proxy", "http://user:secret%0a@proxy", "http://us%3Aer:secret@proxy",
        "http://user:se/cret@proxy:80", "http://user:secret@proxy/path",
        "http://user:secret@proxy?query", "http://user:secret@proxy#x",
        "http://user:secret@proxy:0", "http://user:secret@proxy:65536", "://user:secret@proxy",
        "http:///proxy", "user:secret://proxy"}) {
    const Problem problem = refusal(text);
    EXPECT_EQ(problem.code(), Errc::MalformedUrl) << text;
    EXPECT_TRUE(problem.text.starts_with("could not use the proxy: ")) << problem.text;
    EXPECT_EQ(problem.text.find("secret"), std::string::npos) << problem.text;
    EXPECT_EQ(problem.text.find("cret@"), std::string::npos) << problem.text;
  }
}

}  // namespace
}  // namespace skua::client
