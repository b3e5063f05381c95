// SPDX-License-Identifier: MIT
#include "skua/url.hpp"

#include <gtest/gtest.h>

#include <string>

namespace skua {
namespace {

Url url(std::string_view text) {
  Result<Url> parsed = Url::parse(text);
  EXPECT_TRUE(parsed) << text;
  return parsed ? *std::move(parsed) : Url();
}

TEST(Url, HasEveryComponentInItsPlace) {
  const Url whole = url("HTTPS://us%65r:p%3aw@Example.com:8443/a/b%20c?x=1&y#top");
  EXPECT_EQ(whole.scheme(), "https");
  EXPECT_EQ(whole.authority(), "us%65r:p%3aw@Example.com:8443");
  EXPECT_EQ(whole.userinfo(), "us%65r:p%3aw");
  EXPECT_EQ(whole.user(), "user");
  EXPECT_EQ(whole.password(), "p:w");
  EXPECT_EQ(whole.host(), "Example.com");
  EXPECT_EQ(whole.port(), 8443);
  EXPECT_EQ(whole.path(), "/a/b%20c");
  EXPECT_EQ(whole.query(), "x=1&y");
  EXPECT_EQ(whole.fragment(), "top");
  EXPECT_EQ(whole.to_string(), "https://us%65r:p%3aw@Example.com:8443/a/b%20c?x=1&y#top");
  EXPECT_EQ(whole.request_target(), "/a/b%20c?x=1&y");
}

TEST(Url, TellsWhatIsMissingFromWhatIsEmpty) {
  const Url full = url("s://@:?#");
  EXPECT_TRUE(full.has_scheme() && full.has_authority() && full.has_userinfo());
  EXPECT_TRUE(full.has_query() && full.has_fragment());
  EXPECT_EQ(full.port(), std::nullopt);
  EXPECT_EQ(full.host_kind(), HostKind::None);
  const Url bare = url("a");
  EXPECT_FALSE(bare.has_scheme() || bare.has_authority() || bare.has_userinfo());
  EXPECT_FALSE(bare.has_query() || bare.has_fragment());
  EXPECT_EQ(bare.path(), "a");
  EXPECT_EQ(Url().to_string(), "");
  EXPECT_EQ(Url(), url(""));
}

TEST(Url, ReadsTheExamplesOfTheStandard) {
  // RFC 3986 §1.1.2
  EXPECT_EQ(url("ftp://ftp.is.co.za/rfc/rfc1808.txt").host(), "ftp.is.co.za");
  EXPECT_EQ(url("ldap://[2001:db8::7]/c=GB?objectClass?one").host(), "[2001:db8::7]");
  EXPECT_EQ(url("ldap://[2001:db8::7]/c=GB?objectClass?one").query(), "objectClass?one");
  EXPECT_EQ(url("mailto:John.Doe@example.com").path(), "John.Doe@example.com");
  EXPECT_EQ(url("news:comp.infosystems.www.servers.unix").scheme(), "news");
  EXPECT_EQ(url("tel:+1-816-555-1212").path(), "+1-816-555-1212");
  EXPECT_EQ(url("telnet://192.0.2.16:80/").port(), 80);
  EXPECT_EQ(url("urn:oasis:names:specification:docbook:dtd:xml:4.1.2").path(),
            "oasis:names:specification:docbook:dtd:xml:4.1.2");
}

TEST(Url, ReadsReferences) {
  EXPECT_EQ(url("//example.com/a").host(), "example.com");
  EXPECT_EQ(url("/a//b").path(), "/a//b");
  EXPECT_EQ(url("?q").query(), "q");
  EXPECT_EQ(url("#f").fragment(), "f");
  EXPECT_EQ(url("./a:b").path(), "./a:b");
  EXPECT_EQ(url("file:///etc/passwd").path(), "/etc/passwd");
  EXPECT_EQ(url("http:g").path(), "g");
}

TEST(Url, KnowsWhatItsHostIs) {
  EXPECT_EQ(url("http://example.com").host_kind(), HostKind::Name);
  EXPECT_EQ(url("http://192.0.2.1/").host_kind(), HostKind::Ipv4);
  EXPECT_EQ(url("http://[::1]:80/").host_kind(), HostKind::Ipv6);
  EXPECT_EQ(url("http://[v1f.a:b]/").host_kind(), HostKind::IpFuture);
  EXPECT_EQ(url("http://[::1]:80/").hostname(), "::1");
  EXPECT_EQ(url("http://[fe80::1%25eth0]/").hostname(), "fe80::1%eth0");
  EXPECT_EQ(url("http://[fe80::1%25a%2Db]/").hostname(), "fe80::1%a-b");
  EXPECT_EQ(url("http://[v1.a]/").hostname(), "v1.a");
  EXPECT_EQ(url("x://127.1/").host_kind(), HostKind::Name);
}

TEST(Url, NeverGuessesAnAddress) {
  for (const char* const host :
       {"127.1", "2130706433", "0x7f.0.0.1", "0X7F000001", "0177.0.0.1", "1.2.3.4.", "1.2.3.256",
        "1.2.3.04", "a.1", "%31.%32", "127%2e1", "0x", "1..", "%30x7f"}) {
    EXPECT_FALSE(Url::parse("http://" + std::string(host) + "/")) << host;
    EXPECT_TRUE(Url::parse("x://" + std::string(host) + "/")) << host;
  }
  for (const char* const host : {"1a", "a1", "0x.com", "1.2.3.4.example", "x0", "0xg", "a", "-"}) {
    EXPECT_TRUE(Url::parse("http://" + std::string(host) + "/")) << host;
  }
}

TEST(Url, RefusesWhatTwoReadersCouldReadDifferently) {
  for (const char* const text : {"http://a@b@c/",
                                 "http://a\\@b/",
                                 "http:\\\\a/",
                                 "http://a\tb/",
                                 "http://a\nb/",
                                 " http://a/",
                                 "http://a/ ",
                                 "http://a b/",
                                 "http://a/\r\nX: y",
                                 "http://a/\x7f",
                                 "http://a/\xc3\xbc",
                                 "http://\xc3\xbc/",
                                 "http://a:b:1/",
                                 "http://a:1b/",
                                 "http://a:+1/",
                                 "http://a:65536/",
                                 "http://a:99999999999999999999/",
                                 "http://[::1/",
                                 "http://::1]/",
                                 "http://[::1]a/",
                                 "http://[::1]]/",
                                 "http://[::1%eth0]/",
                                 "http://[::1%25]/",
                                 "http://[::1%25a b]/",
                                 "http://[1.2.3.4]/",
                                 "http://[]/",
                                 "http://[v.a]/",
                                 "http://[v1]/",
                                 "http://[v1.]/",
                                 "http://[a]/",
                                 "http://[::1][::2]/",
                                 "http://a[::1]/",
                                 "http:///a",
                                 "http://",
                                 "http://:80/",
                                 "http://u@/",
                                 "https://?",
                                 "ws://#",
                                 "http://a/%",
                                 "http://a/%4",
                                 "http://a/%4g",
                                 "http://%zz/",
                                 "http://%@a/",
                                 "http://a/?%",
                                 "http://a/#%",
                                 "http://a/#b#c",
                                 "http://a/[",
                                 "http://a/?[]",
                                 "http://a/<",
                                 "http://a/\"",
                                 "http://a/^",
                                 "http://a/`",
                                 "http://a/{",
                                 "http://a/|",
                                 ":a",
                                 "1a:b",
                                 "a_b:c",
                                 "%61:b",
                                 "://a",
                                 "a b"}) {
    EXPECT_FALSE(Url::parse(text)) << text;
    EXPECT_EQ(Url::parse(text).error().code(), Errc::MalformedUrl) << text;
  }
  EXPECT_FALSE(Url::parse(std::string_view("http://a/\0", 10)));
}

TEST(Url, IsReadLenientlyWhereItIsAskedFor) {
  const auto lenient = [](std::string_view text) {
    const Result<Url> read = Url::parse_lenient(text);
    return read ? read->to_string() : "refused";
  };
  EXPECT_EQ(lenient("http://a/\xc3\xbc b?x[]={\"|\"}#<^`>"),
            "http://a/%C3%BC%20b?x%5B%5D=%7B%22%7C%22%7D#%3C%5E%60%3E");
  EXPECT_EQ(lenient("http://[::1]/[x]"), "http://[::1]/%5Bx%5D");
  EXPECT_EQ(lenient("//[::1]?[x]"), "//[::1]?%5Bx%5D");
  EXPECT_EQ(lenient("/a//[b]"), "/a//%5Bb%5D");
  EXPECT_EQ(lenient("[b]"), "%5Bb%5D");
  EXPECT_EQ(lenient("?u=http://[b]"), "?u=http://%5Bb%5D");
  EXPECT_EQ(lenient("http://a/b%20c"), "http://a/b%20c");
  EXPECT_EQ(lenient(""), "");
  for (const char* const text :
       {"http://a\\b/", "http:\\\\a", "/\\b", "http://a b/", "http://\xc3\xbc/", "http://a/\n",
        "/\t", "http://a/%", "http://a[b]/", "http://a|b", "http://a\"/", " http://a/"}) {
    EXPECT_EQ(lenient(text), "refused") << text;
  }
}

TEST(Url, IsBounded) {
  const std::string longest = "http://a/" + std::string(Url::max_bytes - 9, 'b');
  EXPECT_TRUE(Url::parse(longest));
  EXPECT_FALSE(Url::parse(longest + "b"));
  Url whole = url(longest);
  EXPECT_FALSE(whole.set_fragment("c"));
  EXPECT_FALSE(whole.set_path(std::string(Url::max_bytes / 2, ' ')));
  EXPECT_EQ(whole.to_string(), longest);
}

TEST(Url, KnowsThePortsOfHttp) {
  EXPECT_EQ(url("http://a").effective_port(), 80);
  EXPECT_EQ(url("HTTPS://a:").effective_port(), 443);
  EXPECT_EQ(url("ws://a").effective_port(), 80);
  EXPECT_EQ(url("wss://a").effective_port(), 443);
  EXPECT_EQ(url("wss://a:0080").effective_port(), 80);
  EXPECT_EQ(url("x://a").effective_port(), std::nullopt);
}

TEST(Url, WritesAHostField) {
  EXPECT_EQ(url("http://u:p@a:80/").host_field(), "a");
  EXPECT_EQ(url("http://a:443/").host_field(), "a:443");
  EXPECT_EQ(url("https://[fe80::1%25eth0]:8443/").host_field(), "[fe80::1]:8443");
  EXPECT_EQ(url("http://a?b").request_target(), "/?b");
}

TEST(Url, IsBuiltBySetters) {
  Url built;
  EXPECT_TRUE(built.set_host("example.com"));
  EXPECT_TRUE(built.set_scheme("HTTPS"));
  EXPECT_TRUE(built.set_port(8443));
  EXPECT_TRUE(built.set_userinfo("me:it's \xc3\xbc"));
  EXPECT_TRUE(built.add_segment("a/b"));
  EXPECT_TRUE(built.add_segment("100%?"));
  EXPECT_TRUE(built.set_query("q=a b&r=%20[]"));
  EXPECT_TRUE(built.set_fragment("x#y"));
  EXPECT_EQ(built.to_string(),
            "https://me:it's%20%C3%BC@example.com:8443/a%2Fb/100%25%3F?q=a%20b&r=%20%5B%5D#x%23y");
  EXPECT_TRUE(built.set_host("[::1]"));
  EXPECT_TRUE(built.set_userinfo(""));
  EXPECT_TRUE(built.set_port(std::nullopt));
  EXPECT_TRUE(built.set_query(std::nullopt));
  EXPECT_TRUE(built.set_fragment(std::nullopt));
  EXPECT_TRUE(built.set_path("/x y?#/\\\r\n"));
  EXPECT_EQ(built.to_string(), "https://[::1]/x%20y%3F%23/%5C%0D%0A");
}

TEST(Url, NoSetterReachesIntoAnotherComponent) {
  const std::string before = "http://example.com/a?b#c";
  Url whole = url(before);
  for (const char* const host : {"a:80", "u@a", "a/b", "a?b", "a#b", "a b", "", "[::1", "a\r\n",
                                 "127.1", "%", "\xc3\xbc", "a\\b"}) {
    EXPECT_FALSE(whole.set_host(host)) << host;
  }
  for (const char* const scheme : {"1", "a:b", "http://x", "a b", "a/"}) {
    EXPECT_FALSE(whole.set_scheme(scheme)) << scheme;
  }
  EXPECT_FALSE(whole.set_path("b"));
  EXPECT_FALSE(whole.set_path("/%4"));
  EXPECT_FALSE(whole.set_query("%"));
  EXPECT_FALSE(whole.add_segment(".."));
  EXPECT_FALSE(whole.add_segment("."));
  EXPECT_EQ(whole.to_string(), before);

  Url relative = url("a");
  EXPECT_FALSE(relative.set_path("//evil.example/"));
  EXPECT_FALSE(relative.set_path("x:y"));
  EXPECT_FALSE(relative.set_port(80));
  EXPECT_FALSE(relative.set_userinfo("u"));
  EXPECT_FALSE(relative.set_host("b"));
  EXPECT_TRUE(relative.set_path(""));
  EXPECT_TRUE(relative.add_segment("x:y"));
  EXPECT_EQ(relative.to_string(), "x%3Ay");
  EXPECT_TRUE(relative.add_segment(""));
  EXPECT_EQ(relative.to_string(), "x%3Ay/");
}

TEST(Url, HasTheOriginOfItsServer) {
  EXPECT_EQ(url("http://u@EXAMPLE.com/a").origin(), url("http://example.com:80/b").origin());
  EXPECT_EQ(url("http://[0:0::1]/").origin(), url("http://[::1]:0080/").origin());
  EXPECT_EQ(url("http://e%78ample.com").origin(), url("http://example.com").origin());
  EXPECT_NE(url("http://a").origin(), url("https://a").origin());
  EXPECT_NE(url("http://a").origin(), url("http://a:8080").origin());
  EXPECT_NE(url("http://a").origin(), url("http://a.").origin());
  EXPECT_NE(url("http://a").origin(), url("http://b").origin());
  EXPECT_EQ(url("http://[0:0::1]:81/").origin()->to_string(), "http://[::1]:81");
  EXPECT_EQ(url("HTTPS://A:443").origin()->to_string(), "https://a");
  for (const char* const text : {"a", "//a", "x://a", "mailto:a", "http:g", "file:///a"}) {
    EXPECT_EQ(url(text).origin(), std::nullopt) << text;
  }
  EXPECT_EQ(url("x://a:1").origin()->to_string(), "x://a:1");
}

TEST(PercentEncode, KeepsWhatMayStandThere) {
  const std::string_view text = "aZ0-._~!$&'()*+,;=:@/?#[]% \"\x01\xc3\xbc";
  EXPECT_EQ(percent_encode(text),
            "aZ0-._~%21%24%26%27%28%29%2A%2B%2C%3B%3D%3A%40%2F%3F%23%5B%5D%25%20%22%01%C3%BC");
  EXPECT_EQ(percent_encode(text, PercentSet::Segment),
            "aZ0-._~!$&'()*+,;=:@%2F%3F%23%5B%5D%25%20%22%01%C3%BC");
  EXPECT_EQ(percent_encode(text, PercentSet::Path),
            "aZ0-._~!$&'()*+,;=:@/%3F%23%5B%5D%25%20%22%01%C3%BC");
  EXPECT_EQ(percent_encode(text, PercentSet::Query),
            "aZ0-._~!$&'()*+,;=:@/?%23%5B%5D%25%20%22%01%C3%BC");
  EXPECT_EQ(percent_encode(text, PercentSet::Fragment), percent_encode(text, PercentSet::Query));
  EXPECT_EQ(percent_encode(text, PercentSet::Userinfo),
            "aZ0-._~!$&'()*+,;=:%40%2F%3F%23%5B%5D%25%20%22%01%C3%BC");
  EXPECT_EQ(percent_encode(text, PercentSet::Form),
            "aZ0-._%7E%21%24%26%27%28%29*%2B%2C%3B%3D%3A%40%2F%3F%23%5B%5D%25+%22%01%C3%BC");
}

TEST(PercentDecode, GivesTheTextBackOrRefuses) {
  EXPECT_EQ(percent_decode("a%20b+%c3%BC").value(), "a b+\xc3\xbc");
  EXPECT_EQ(percent_decode("%00").value(), std::string(1, '\0'));
  EXPECT_EQ(percent_decode("%2541").value(), "%41");
  for (const char* const text : {"%", "%4", "a%", "%zz", "%4g", "%%41", "% 41"}) {
    EXPECT_FALSE(percent_decode(text)) << text;
  }
}

}  // namespace
}  // namespace skua
