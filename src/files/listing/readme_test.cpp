// SPDX-License-Identifier: MIT
#include "files/listing/readme.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/base_encoding.hpp"
#include "crypto/digest.hpp"
#include "files/listing/page_assets.hpp"
#include "skua/files.hpp"
#include "skua/testing.hpp"
#include "support/temporary_directory.hpp"

namespace skua::files {
namespace {

std::string_view readme_of(const std::vector<std::string>& names) {
  static std::vector<DirectoryEntry> entries;
  entries.clear();
  for (const std::string& name : names) entries.push_back({.name = name});
  return find_readme(entries);
}

TEST(Readme, IsFoundByItsName) {
  EXPECT_EQ(readme_of({}), "");
  EXPECT_EQ(readme_of({"a", "readme.html", "README.md.bak", "xREADME.md"}), "");
  EXPECT_EQ(readme_of({"README", "readme.txt", "ReadMe.MD"}), "ReadMe.MD");
  EXPECT_EQ(readme_of({"README", "readme.txt"}), "readme.txt");
  EXPECT_EQ(find_readme(std::vector<DirectoryEntry>{{.name = "README.md", .is_directory = true}}),
            "");
}

TEST(Readme, ThePolicyAllowsItsStyleByTheDigest) {
  if (!crypto::is_available()) GTEST_SKIP() << "built without OpenSSL";
  const auto digest = crypto::hash(crypto::Hash::Sha256, readme_style);
  const std::string source = "'sha256-" + base64::encode(digest.value()) + "'";
  EXPECT_EQ(readme_style_source, source);
  const std::string policy = readme_policy();
  EXPECT_NE(policy.find("; style-src " + source + " 'sha256-"), policy.npos) << policy;
  EXPECT_EQ(policy.size(), listing_policy.size() + source.size() + 1);
}

class ReadmeListing : public ::testing::Test {
 protected:
  Response list(const std::string& line = "GET /", std::string_view accept = "text/html") {
    const auto render = [this](std::string_view name, std::string_view text) {
      ++calls_;
      return "<p>[" + std::string(name) + ":" + std::string(text) + "]</p>";
    };
    const auto site =
        FileHandler::open(tree_.string(), {.listing = true, .render_readme = render}).value();
    testing::FakeRequest fake(line);
    fake.header("Accept", accept);
    return site(fake.request());
  }
  static bool has(const Response& response, std::string_view text) {
    return response.body().find(text) != response.body().npos;
  }

  support::TemporaryDirectory tree_;
  int calls_ = 0;
};

TEST_F(ReadmeListing, IsShownBelowTheEntries) {
  tree_.write("readme.txt", "text");
  tree_.write("README.md", "*a*");
  const Response page = list();
  EXPECT_TRUE(has(page, "<article class=\"readme\">\n<p>[README.md:*a*]</p></article>"));
  EXPECT_LT(page.body().find("</table>"), page.body().find("<article"));
  EXPECT_EQ(page.header("Content-Security-Policy"), readme_policy());
}

TEST_F(ReadmeListing, IsOnTheFirstPageOfTheWholeFolderOnly) {
  tree_.write("README.md", "*a*");
  EXPECT_FALSE(has(list("GET /?q=read"), "<article"));
  EXPECT_FALSE(has(list("GET /?page=2"), "<article"));
  EXPECT_FALSE(has(list("GET /", "application/json"), "*a*"));
  EXPECT_EQ(calls_, 0);
  EXPECT_TRUE(has(list("GET /?sort=-time"), "<article"));
}

TEST_F(ReadmeListing, LeavesOutWhatIsNoText) {
  for (const std::string& content :
       {std::string(), std::string("a\0b", 3), std::string(readme_at_most_bytes + 1, 'x')}) {
    tree_.write("README.md", content);
    EXPECT_FALSE(has(list(), "<article")) << content.size();
  }
  EXPECT_EQ(calls_, 0);
}

TEST_F(ReadmeListing, ALongOneTakesAnotherThread) {
  tree_.write("README.md", std::string(long_readme_bytes, 'x'));
  EXPECT_TRUE(has(list(), "<article"));
  tree_.write("README.md", std::string(long_readme_bytes + 1, 'x'));
  EXPECT_NE(list().content().stream(), nullptr);
  EXPECT_EQ(calls_, 1);
}

}  // namespace
}  // namespace skua::files
