// SPDX-License-Identifier: MIT
// Paths as text: what either platform refuses before it looks at a file.
#include "files/safe_path.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/hostile_paths.hpp"

namespace skua::files {
namespace {

using support::hostile_paths;

// Names that are special only on Windows.
const std::vector<std::string> windows_paths = {
    "/a/.../b",
    "/a:b",
    "/2026-11-22T20:37:30.log",
    "/a.txt::$DATA",
    "/C:/windows",
    "/a.txt.",
    "/a.txt ",
    "/a./b",
    "/a /b",
    "/con",
    "/CON",
    "/aux.txt",
    "/dir/NUL",
    "/dir/nul.tar.gz",
    "/prn .txt",
    "/com1",
    "/Com9.html",
    "/LPT0",
    "/com\u00B9",
    "/CONIN$",
    "/clock$",
};

TEST(SafePath, RefusesHostilePathsAsText) {
  for (const NameRules names : {NameRules::Posix, NameRules::Windows}) {
    for (const std::string& path : hostile_paths) {
      EXPECT_FALSE(is_safe_path(path, {.dotfiles = true, .names = names})) << path;
      EXPECT_FALSE(is_safe_path(path, {.names = names})) << path;
    }
  }
}

TEST(SafePath, RefusesWhatWindowsReadsAsMoreThanANameOnWindowsOnly) {
  for (const std::string& path : windows_paths) {
    EXPECT_FALSE(is_safe_path(path, {.dotfiles = true, .names = NameRules::Windows})) << path;
    EXPECT_TRUE(is_safe_path(path, {.dotfiles = true, .names = NameRules::Posix})) << path;
  }
}

TEST(SafePath, AcceptsOrdinaryNames) {
  for (const std::string_view path : {"/",
                                      "/a",
                                      "/a/",
                                      "/a/b.tar.gz",
                                      "/-rf",
                                      "/~user",
                                      "/a b",
                                      "/ a",
                                      "/\u00FCber.html",
                                      "/a\xFF",
                                      "/console.log",
                                      "/communication",
                                      "/com",
                                      "/com10",
                                      "/lpt",
                                      "/nullable.js",
                                      "/a..b",
                                      "/%2e%2e",
                                      "/<script>",
                                      "/'\"",
                                      "/*?|"}) {
    EXPECT_TRUE(is_safe_path(path, {.names = NameRules::Posix})) << path;
    EXPECT_TRUE(is_safe_path(path, {.names = NameRules::Windows})) << path;
  }
}

TEST(SafePath, HidesDotfilesUnlessAllowed) {
  for (const std::string_view path :
       {"/.git", "/.git/config", "/a/.env", "/.htaccess", "/..a", "/a/.well-known/x",
        "/.well-known/.secret", "/.well-knownx"}) {
    EXPECT_FALSE(is_safe_path(path, {})) << path;
    EXPECT_TRUE(is_safe_path(path, {.dotfiles = true})) << path;
  }
  EXPECT_TRUE(is_safe_path("/.well-known", {}));
  EXPECT_TRUE(is_safe_path("/.well-known/acme-challenge/x", {}));
}

}  // namespace
}  // namespace skua::files
