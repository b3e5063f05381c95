// SPDX-License-Identifier: MIT
#include "http/uri/target_path.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace skua::http {
namespace {

std::string canonical(std::string_view raw) {
  std::array<char, 256> scratch;
  const auto path = canonical_path(raw, scratch);
  return path ? std::string(*path) : "refused";
}

TEST(TargetPath, ReturnsACanonicalPathItself) {
  for (const std::string_view raw : {"/", "/a", "/a/", "/a.b/c..d/e.", "/~x/-_:@!$&'()*+,;="}) {
    const auto path = canonical_path(raw, {});
    ASSERT_TRUE(path) << raw;
    EXPECT_EQ(path->data(), raw.data());
    EXPECT_EQ(*path, raw);
  }
}

TEST(TargetPath, DecodesOnce) {
  EXPECT_EQ(canonical("/a%20b"), "/a b");
  EXPECT_EQ(canonical("/%41%7a"), "/Az");
  EXPECT_EQ(canonical("/%252e%252e/x"), "/%2e%2e/x");
  EXPECT_EQ(canonical("/%C3%BC"), "/\xc3\xbc");
  EXPECT_EQ(canonical("/%ff"), "/\xff");
  EXPECT_EQ(canonical("/a+b"), "/a+b");
}

TEST(TargetPath, RefusesMalformedPercentSigns) {
  for (const std::string_view raw : {"/%", "/%4", "/%zz", "/%4g", "/a%", "/%%41", "/% 1", "/%+1"}) {
    EXPECT_EQ(canonical(raw), "refused") << raw;
  }
}

TEST(TargetPath, RefusesControlBytesEncodedSlashesAndBackslashes) {
  for (const std::string_view raw : {"/%00", "/a%0d%0a", "/%1f", "/%7F", "/a%2fb", "/a%2Fb",
                                     "/a\\b", "/%5c", "/%5C..", "/\x01", "/a\nb", "/\x7f"}) {
    EXPECT_EQ(canonical(raw), "refused") << raw;
  }
  EXPECT_EQ(canonical(std::string_view("/a\0b", 4)), "refused");
}

TEST(TargetPath, MergesSlashes) {
  EXPECT_EQ(canonical("//"), "/");
  EXPECT_EQ(canonical("//a///b//"), "/a/b/");
  EXPECT_EQ(canonical("//evil.example/a"), "/evil.example/a");
}

TEST(TargetPath, RemovesDotSegments) {
  EXPECT_EQ(canonical("/."), "/");
  EXPECT_EQ(canonical("/./"), "/");
  EXPECT_EQ(canonical("/a/."), "/a/");
  EXPECT_EQ(canonical("/a/./b"), "/a/b");
  EXPECT_EQ(canonical("/a/.."), "/");
  EXPECT_EQ(canonical("/a/../b"), "/b");
  EXPECT_EQ(canonical("/a/b/../../c/"), "/c/");
  EXPECT_EQ(canonical("/a/b/.."), "/a/");
  EXPECT_EQ(canonical("/a/%2e%2E/b"), "/b");
  EXPECT_EQ(canonical("/a//../b"), "/b");
  EXPECT_EQ(canonical("/.well-known/x"), "/.well-known/x");
  EXPECT_EQ(canonical("/.../x"), "/.../x");
}

TEST(TargetPath, RefusesToClimbAboveTheRoot) {
  for (const std::string_view raw :
       {"/..", "/../", "/a/../..", "/a/../../b", "/%2e%2e/x", "//..", "/./../x"}) {
    EXPECT_EQ(canonical(raw), "refused") << raw;
  }
}

TEST(TargetPath, RefusesWhatIsNoPath) {
  for (const std::string_view raw : {"", "a", "*a", "http", "%2f"})
    EXPECT_EQ(canonical(raw), "refused") << raw;
  EXPECT_EQ(canonical("*"), "*");
}

TEST(TargetPath, IsTheSameWhenItIsAppliedToWhatHasNoPercentSign) {
  for (const std::string_view raw :
       {"/a/../b//c/./d/", "/x/./..", "//", "/a%20b/../c", "/.a/..b/"}) {
    EXPECT_EQ(canonical(canonical(raw)), canonical(raw)) << raw;
  }
}

TEST(TargetPath, SeesEverySpecialByteWhereverItStands) {
  for (std::size_t size = 1; size <= 70; ++size) {
    for (std::size_t at = 1; at < size; ++at) {
      std::string path = "/" + std::string(size - 1, 'x');
      EXPECT_EQ(canonical(path), path);
      for (const char refused : {'\x01', '\x1f', '\x7f', '\\'}) {
        path[at] = refused;
        EXPECT_EQ(canonical(path), "refused") << size << " " << at;
      }
      path[at] = '\xff';
      EXPECT_EQ(canonical(path), path);
      if (at + 3 > size) continue;
      path.replace(at, 3, "%41");
      std::string decoded = path;
      EXPECT_EQ(canonical(path), decoded.replace(at, 3, "A")) << path;
      path.replace(at, 3, "//x");
      EXPECT_EQ(canonical(path).size(), size - (at == 1 ? 2 : 1)) << path;
      path.replace(at, 3, "/./");
      EXPECT_LT(canonical(path).size(), size) << path;
    }
  }
}

TEST(TargetPath, SplitsTargets) {
  const auto split = [](std::string_view target) {
    const TargetParts parts = split_target(target);
    return std::string(parts.path) + " " + std::string(parts.query);
  };
  EXPECT_EQ(split("/a?b=c?d"), "/a b=c?d");
  EXPECT_EQ(split("/a"), "/a ");
  EXPECT_EQ(split("/?"), "/ ");
  EXPECT_EQ(split("*"), "* ");
  EXPECT_EQ(split("http://h:1/a?b"), "/a b");
  EXPECT_EQ(split("http://h"), "/ ");
  EXPECT_EQ(split("http://h?b"), "/ b");
  EXPECT_EQ(split("/x?u=http://h/"), "/x u=http://h/");
  EXPECT_EQ(split("/http://h/y"), "/http://h/y ");
}

}  // namespace
}  // namespace skua::http
