// SPDX-License-Identifier: MIT
#include "files/directory_index.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/temporary_directory.hpp"

namespace skua::files {
namespace {

using support::TemporaryDirectory;

std::vector<std::string> names(const DirectoryListing& listing) {
  std::vector<std::string> result;
  for (const DirectoryEntry& entry : listing.entries) result.push_back(entry.name);
  return result;
}

std::vector<std::string> sorted_names(DirectoryListing listing) {
  sort_entries(listing, {});
  return names(listing);
}

TEST(DirectoryIndex, ShowsWhatCanBeAskedForAndNothingElse) {
  TemporaryDirectory tree;
  for (const char* name :
       {"a.txt", "-rf", "<script>", "q\"'&", "100%", "sp ace", "\xFF\xFE", ".hidden", "line\nbreak",
        "back\\slash", "colon:ed", "con", "dot.", ".well-known/x"}) {
    tree.write(name, "x");
  }
  tree.make("dir");
  tree.link("a.txt", "link");
  tree.link("/etc", "outside");
  tree.link("nowhere", "dangling");
  ASSERT_EQ(mkfifo((tree / "fifo").c_str(), 0600), 0);
  const Root root = Root::open(tree.string()).value();
  auto listing = read_directory(root, "/");
  ASSERT_TRUE(listing);
  EXPECT_FALSE(listing->is_truncated);
  std::vector<std::string> expected = {"-rf",   "100%",   "<script>", "a.txt", "link",
                                       "q\"'&", "sp ace", "\xFF\xFE", "dir"};
  if (root.resolver() != Root::Resolver::Kernel) std::erase(expected, "link");
  std::sort(expected.begin(), expected.end());
  auto found = names(*listing);
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, expected);
  for (const DirectoryEntry& entry : listing->entries) {
    EXPECT_TRUE(root.find("/" + entry.name)) << entry.name;
  }
}

TEST(DirectoryIndex, ShowsDotfilesWhereTheyAreServed) {
  TemporaryDirectory tree;
  tree.write(".hidden", "x");
  EXPECT_TRUE(read_directory(Root::open(tree.string()).value(), "/")->entries.empty());
  const Root open = Root::open(tree.string(), {.dotfiles = true}).value();
  EXPECT_EQ(names(*read_directory(open, "/")), (std::vector<std::string>{".hidden"}));
}

TEST(DirectoryIndex, StopsAtItsLimitAndSaysSo) {
  TemporaryDirectory tree;
  for (int i = 0; i < 12; ++i) tree.write(std::to_string(i), "");
  const Root root = Root::open(tree.string()).value();
  const auto listing = read_directory(root, "/", 10);
  EXPECT_EQ(listing->entries.size(), 10u);
  EXPECT_TRUE(listing->is_truncated);
  EXPECT_NE(listing_html(*listing, "/", {}).find("Only the first 10 entries"), std::string::npos);
  EXPECT_NE(listing_json(*listing, "/").find("\"truncated\":true"), std::string::npos);
  EXPECT_FALSE(read_directory(root, "/", 12)->is_truncated);
}

TEST(DirectoryIndex, SaysThatADirectoryIsNotThere) {
  TemporaryDirectory tree;
  tree.write("file", "x");
  const Root root = Root::open(tree.string()).value();
  EXPECT_EQ(read_directory(root, "/none/").error().code(), Errc::NotFound);
  EXPECT_EQ(read_directory(root, "/file/").error().code(), Errc::NotFound);
}

DirectoryListing sample() {
  DirectoryListing listing;
  listing.entries = {{.name = "b", .size_bytes = 1, .modified_ns = 30},
                     {.name = "A", .size_bytes = 3, .modified_ns = 20},
                     {.name = "c", .size_bytes = 2, .modified_ns = 10},
                     {.name = "z", .modified_ns = 5, .is_directory = true}};
  return listing;
}

TEST(DirectoryIndex, SortsDirectoriesFirstThenByTheKey) {
  EXPECT_EQ(sorted_names(sample()), (std::vector<std::string>{"z", "A", "b", "c"}));
  const auto by = [](std::string_view key) {
    DirectoryListing listing = sample();
    sort_entries(listing, parse_sort(key));
    return names(listing);
  };
  EXPECT_EQ(by("-name"), (std::vector<std::string>{"z", "c", "b", "A"}));
  EXPECT_EQ(by("size"), (std::vector<std::string>{"z", "b", "c", "A"}));
  EXPECT_EQ(by("-size"), (std::vector<std::string>{"z", "A", "c", "b"}));
  EXPECT_EQ(by("time"), (std::vector<std::string>{"z", "c", "A", "b"}));
  EXPECT_EQ(by("<script>"), (std::vector<std::string>{"z", "A", "b", "c"}));
}

TEST(DirectoryIndex, WritesSizesForPeople) {
  EXPECT_EQ(human_size(0), "0 B");
  EXPECT_EQ(human_size(1023), "1023 B");
  EXPECT_EQ(human_size(1024), "1.0 KiB");
  EXPECT_EQ(human_size(1536), "1.5 KiB");
  EXPECT_EQ(human_size(10 * 1024), "10 KiB");
  EXPECT_EQ(human_size(1024 * 1024 - 1), "1023 KiB");
  EXPECT_EQ(human_size(100ULL << 20), "100 MiB");
  EXPECT_EQ(human_size(~0ULL), "15 EiB");
}

TEST(DirectoryIndex, HostileNamesStayText) {
  DirectoryListing listing;
  for (const char* name : {"<script>alert(1)</script>", "\" onmouseover=\"x", "'", "&lt;",
                           "javascript:x", "a\nb", "%2e%2e", "\xFF", "-rf", "?q#f"}) {
    listing.entries.push_back({.name = name});
  }
  const std::string html = listing_html(listing, "/<b>\"/", {});
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("<b>"), std::string::npos);
  EXPECT_EQ(html.find("\" onmouseover"), std::string::npos);
  EXPECT_EQ(html.find("\"javascript:"), std::string::npos);
  EXPECT_EQ(html.find('\xFF'), std::string::npos);
  for (const char* part :
       {"href=\"./%3Cscript%3Ealert%281%29%3C/script%3E\"", "href=\"./%22%20onmouseover%3D%22x\"",
        "href=\"./javascript%3Ax\"", "href=\"./a%0Ab\"", "href=\"./%252e%252e\"", "href=\"./%FF\"",
        "href=\"./-rf\"", "href=\"./%3Fq%23f\"", "&amp;lt;", "<title>/&lt;b&gt;&quot;/</title>"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
}

TEST(DirectoryIndex, LinksToTheParentButAtTheRoot) {
  EXPECT_EQ(listing_html({}, "/", {}).find("\"../\""), std::string::npos);
  EXPECT_NE(listing_html({}, "/a/", {}).find("\"../\""), std::string::npos);
}

TEST(DirectoryIndex, ColumnsTurnTheOrderRound) {
  const std::string by_name = listing_html({}, "/", {});
  EXPECT_NE(by_name.find("?sort=-name"), std::string::npos);
  EXPECT_NE(by_name.find("?sort=size"), std::string::npos);
  EXPECT_NE(listing_html({}, "/", parse_sort("-name")).find("\"?sort=name"), std::string::npos);
}

TEST(DirectoryIndex, WritesJson) {
  DirectoryListing listing;
  listing.entries = {{.name = "sub", .modified_ns = 0, .is_directory = true},
                     {.name = "a\"b", .size_bytes = 5, .modified_ns = 1'700'000'000'123'456'789}};
  EXPECT_EQ(
      listing_json(listing, "/x/"),
      "{\"path\":\"/x/\",\"truncated\":false,\"entries\":[\n"
      "{\"name\":\"sub\",\"type\":\"directory\",\"modified\":\"1970-01-01T00:00:00Z\"},\n"
      "{\"name\":\"a\\\"b\",\"type\":\"file\",\"size\":5,\"modified\":\"2023-11-14T22:13:20Z\"}"
      "\n]}\n");
  EXPECT_EQ(listing_json({}, "/"), "{\"path\":\"/\",\"truncated\":false,\"entries\":[\n]}\n");
}

TEST(DirectoryIndex, PrefersWhatTheClientPrefers) {
  for (const char* accept :
       {"application/json", "Application/JSON;q=0.2", "text/html;q=0.5,application/json",
        "*/*;q=0.1, application/json; q=0.9, text/html; q=0.85"}) {
    EXPECT_TRUE(prefers_json(accept)) << accept;
  }
  for (const char* accept :
       {"", "*/*", "text/html", "text/html,application/json;q=0.9", "application/json;q=0",
        "application/jsonx", "application/json, text/html"}) {
    EXPECT_FALSE(prefers_json(accept)) << accept;
  }
}

}  // namespace
}  // namespace skua::files
