// SPDX-License-Identifier: MIT
#include "serve/site/path_glob.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace skua::cli {
namespace {

struct Case {
  const char* glob;
  std::vector<const char*> in;
  std::vector<const char*> out;
};

TEST(PathGlob, MatchesPaths) {
  const Case cases[] = {
      {"*.wasm", {"/a.wasm", "/x/y/a.wasm", "/.wasm"}, {"/a.wasm/b", "/a.wasmx", "/a.js", "/"}},
      {"*", {"/a", "/a/b", "/"}, {}},
      {"**", {"/a", "/a/b", "/"}, {}},
      {"sw.js", {"/sw.js", "/x/sw.js"}, {"/xsw.js", "/sw.js/"}},
      {"/api/**", {"/api/", "/api/a", "/api/a/b/"}, {"/api", "/apix/", "/x/api/a"}},
      {"/api/*", {"/api/", "/api/a"}, {"/api/a/b", "/api/a/"}},
      {"/*/draft/**", {"/x/draft/", "/x/draft/y/z", "//draft/"}, {"/draft/y", "/x/y/draft/z"}},
      {"/**/a*b", {"/x/ab", "/x/y/a12b", "/x/abab"}, {"/ab", "/x/a/b", "/x/ab/"}},
      {"/**.html", {"/a.html", "/x/y.html"}, {"/a.htm", "html"}},
      {"/exact", {"/exact"}, {"/exact/", "/exactly", "/x/exact", "/"}},
      {"/a*b*c", {"/abc", "/axbxbc", "/abcbc"}, {"/ab", "/abcd", "/acb"}},
  };
  for (const Case& one : cases) {
    const PathGlob glob(one.glob);
    for (const char* path : one.in) EXPECT_TRUE(glob.matches(path)) << one.glob << " " << path;
    for (const char* path : one.out) EXPECT_FALSE(glob.matches(path)) << one.glob << " " << path;
  }
}

TEST(PathGlob, NoPathTakesLong) {
  std::string text = "/";
  for (int i = 0; i < 60; ++i) text += "**a*";
  const PathGlob glob(text + "b");
  EXPECT_FALSE(glob.matches("/" + std::string(8000, 'a')));
  EXPECT_TRUE(glob.matches("/" + std::string(8000, 'a') + "b"));
}

TEST(PathGlob, RefusesWhatItDoesNotUnderstand) {
  EXPECT_NO_THROW(PathGlob(std::string(PathGlob::max_bytes, '*')));
  for (const std::string& text :
       {std::string(), std::string("a/b"), std::string("*/"), std::string("/a\r\nb"),
        std::string("/\0", 2), std::string(PathGlob::max_bytes + 1, 'a')}) {
    EXPECT_THROW(PathGlob{text}, std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace skua::cli
