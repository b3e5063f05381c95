// SPDX-License-Identifier: MIT
#include "files/listing/directory_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "support/descriptors.hpp"
#include "support/temporary_directory.hpp"

namespace skua::files {
namespace {

using support::TemporaryDirectory;

using Entries = std::vector<DirectoryEntry>;

std::vector<std::string> names(const Entries& entries) {
  std::vector<std::string> result;
  for (const DirectoryEntry& entry : entries) result.push_back(entry.name);
  return result;
}

// Returns all entries of a folder, or why it cannot be read.
Result<Entries> read_all(const Root& root, std::string_view path) {
  auto reader = DirectoryReader::open(std::shared_ptr<const Root>(&root, [](const Root*) {}), path);
  if (!reader) return reader.error();
  Entries entries;
  const Result<bool> read = reader->read(entries, 1000);
  if (!read) return read.error();
  reader->add_details(entries);
  return entries;
}

ListingPage page_of(const Entries& entries, std::string_view sort = "name",
                    std::size_t number = 1) {
  return make_page(entries, parse_sort(sort), number);
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(DirectoryIndex, ShowsWhatCanBeAskedForAndNothingElse) {
  TemporaryDirectory tree;
  for (const char* name :
       {"a.txt", "-rf", "<script>", "q\"'&", "100%", "sp ace", "\xFF\xFE", ".hidden", "line\nbreak",
        "back\\slash", "colon:ed", "con", "dot.", "end ", ".well-known/x"}) {
    tree.write(name, "x");
  }
  tree.make("dir");
  tree.link("a.txt", "link");
  tree.link("/etc", "outside");
  tree.link("nowhere", "dangling");
  ASSERT_TRUE(support::make_fifo((tree / "fifo").string().c_str()));
  const Root root = Root::open(tree.string()).value();
  const auto entries = read_all(root, "/");
  ASSERT_TRUE(entries);
  std::vector<std::string> expected = {"-rf",   "100%",   "<script>", "a.txt", "link",
                                       "q\"'&", "sp ace", "\xFF\xFE", "dir"};
  if (native_names == NameRules::Posix) {
    expected.insert(expected.end(), {"colon:ed", "con", "dot.", "end "});
  }
  if (root.resolver() != Root::Resolver::Kernel) std::erase(expected, "link");
  std::sort(expected.begin(), expected.end());
  auto found = names(*entries);
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, expected);
  for (const DirectoryEntry& entry : *entries) {
    EXPECT_TRUE(root.find("/" + entry.name)) << entry.name;
  }
}

TEST(DirectoryIndex, ShowsDotfilesWhereTheyAreServed) {
  TemporaryDirectory tree;
  tree.write(".hidden", "x");
  EXPECT_TRUE(read_all(Root::open(tree.string()).value(), "/")->empty());
  const Root open = Root::open(tree.string(), {.dotfiles = true}).value();
  EXPECT_EQ(names(*read_all(open, "/")), (std::vector<std::string>{".hidden"}));
}

TEST(DirectoryIndex, GoesOnWhereItStopped) {
  const TemporaryDirectory tree;
  for (int i = 0; i < 12; ++i) tree.write(std::to_string(i), "");
  auto reader =
      DirectoryReader::open(std::make_shared<Root>(Root::open(tree.string()).value()), "/");
  ASSERT_TRUE(reader);
  Entries entries;
  EXPECT_TRUE(reader->read(entries, 10).value());
  EXPECT_EQ(entries.size(), 10u);
  EXPECT_FALSE(reader->read(entries, 100).value());
  EXPECT_EQ(entries.size(), 12u);
}

TEST(DirectoryIndex, AddsDetailsAndDropsWhatIsGone) {
  TemporaryDirectory tree;
  tree.write("kept", "12345");
  tree.write("gone", "");
  auto reader =
      DirectoryReader::open(std::make_shared<Root>(Root::open(tree.string()).value()), "/");
  ASSERT_TRUE(reader);
  Entries entries;
  EXPECT_FALSE(reader->read(entries, 10).value());
  ASSERT_EQ(entries.size(), 2u);
  const bool had_details = entries[0].has_details;  // as on Windows, which tells them with names
  std::filesystem::remove(tree / "gone");
  reader->add_details(entries);
  EXPECT_EQ(entries.size(), had_details ? 2u : 1u);
  const auto kept = std::ranges::find(entries, "kept", &DirectoryEntry::name);
  ASSERT_NE(kept, entries.end());
  EXPECT_TRUE(kept->has_details);
  EXPECT_EQ(kept->size_bytes, 5u);
  EXPECT_GT(kept->modified_ns, 0);
}

Entries numbered_entries(std::size_t count) {
  Entries entries;
  for (std::size_t i = 0; i < count; ++i) {
    entries.push_back({.name = std::to_string(10'000 + i), .size_bytes = i});
  }
  return entries;
}

TEST(DirectoryIndex, NamesAreSortedAsPeopleCount) {
  const std::vector<std::string> sorted = {"",
                                           "01",
                                           "1",
                                           "1a",
                                           "2",
                                           "010",
                                           "10",
                                           "A",
                                           "a",
                                           "a 2",
                                           "a1",
                                           "a01b",
                                           "a1b",
                                           "a2",
                                           "a10",
                                           "A10b",
                                           "a10000000000000000000000",
                                           "b",
                                           "b0",
                                           "b00",
                                           "v1.2",
                                           "v1.9",
                                           "v1.10.1",
                                           "v1.10.2",
                                           "z",
                                           "\u00e4b",
                                           "\u00e9",
                                           "\u4e2d"};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t k = 0; k < sorted.size(); ++k) {
      Entries entries{{.name = sorted[i]}, {.name = sorted[k]}};
      sort_entries(entries, {});
      EXPECT_EQ(entries.front().name, sorted[std::min(i, k)]) << sorted[i] << " " << sorted[k];
    }
  }
}

TEST(DirectoryIndex, UploadsComeBeforeTheList) {
  const Entries entries = numbered_entries(2);
  ListingPage page = page_of(entries);
  page.has_upload_form = true;
  const std::string html = listing_html(page, "/");
  EXPECT_LT(html.find("name=\"upload\""), html.find("<table>"));
}

TEST(DirectoryIndex, PagesALargeFolder) {
  const Entries entries = numbered_entries(2 * page_entries + 1);
  EXPECT_EQ(page_of(entries, "name", 2).entries.front().name,
            std::to_string(10'000 + page_entries));
  EXPECT_EQ(page_of(entries, "name", 3).entries.size(), 1u);
  EXPECT_EQ(page_of(entries, "name", 4).number, 3u);
  EXPECT_EQ(page_of({}, "name", 7).pages, 1u);
  EXPECT_EQ(page_of(numbered_entries(page_entries)).pages, 1u);

  const std::string first = listing_html(page_of(entries), "/");
  EXPECT_TRUE(contains(first, "<a rel=\"next\" href=\"?page=2\">Next</a> 1\u20131000 of 2001"));
  EXPECT_FALSE(contains(first, "rel=\"prev\""));
  const std::string middle = listing_html(page_of(entries, "-size", 2), "/");
  EXPECT_TRUE(contains(middle, "<a rel=\"prev\" href=\"?sort=-size\">"));
  EXPECT_TRUE(contains(middle, "<a rel=\"next\" href=\"?sort=-size&amp;page=3\">"));
  const std::string last = listing_html(page_of(entries, "name", 3), "/");
  EXPECT_FALSE(contains(last, "rel=\"next\""));

  const std::string json = listing_json(page_of(entries, "time", 2), "/");
  EXPECT_TRUE(contains(json,
                       "\"total\":2001,\"page\":2,\"pages\":3,\"truncated\":false,"
                       "\"previous\":\"?sort=time\",\"next\":\"?sort=time&page=3\""));
  EXPECT_TRUE(contains(listing_json(page_of(entries, "name", 2), "/"), "\"previous\":\"./\""));
}

TEST(DirectoryIndex, ReadsTheNumberOfAPage) {
  EXPECT_EQ(parse_page("7"), 7u);
  for (const char* text : {"", "0", "-1", "x", "7x", " 7", "99999999999999999999999"}) {
    EXPECT_EQ(parse_page(text), 1u) << text;
  }
}

TEST(DirectoryIndex, SaysThatEntriesWereLeftOut) {
  ListingPage page;
  page.is_truncated = true;
  EXPECT_TRUE(contains(listing_html(page, "/"), "more entries than can be listed"));
  EXPECT_TRUE(contains(listing_json(page, "/"), "\"truncated\":true"));
}

TEST(DirectoryIndex, SaysThatADirectoryIsNotThere) {
  TemporaryDirectory tree;
  tree.write("file", "x");
  const Root root = Root::open(tree.string()).value();
  EXPECT_EQ(read_all(root, "/none/").error().code(), Errc::NotFound);
  EXPECT_EQ(read_all(root, "/file/").error().code(), Errc::NotFound);
}

TEST(DirectoryIndex, SortsDirectoriesFirstThenByTheKey) {
  const auto by = [](std::string_view key) {
    Entries entries = {{.name = "b", .size_bytes = 1, .modified_ns = 30},
                       {.name = "A", .size_bytes = 3, .modified_ns = 20},
                       {.name = "c", .size_bytes = 2, .modified_ns = 10},
                       {.name = "z", .modified_ns = 5, .is_directory = true}};
    sort_entries(entries, parse_sort(key));
    return names(entries);
  };
  EXPECT_EQ(by("name"), (std::vector<std::string>{"z", "A", "b", "c"}));
  EXPECT_EQ(by("-name"), (std::vector<std::string>{"z", "c", "b", "A"}));
  EXPECT_EQ(by("size"), (std::vector<std::string>{"z", "b", "c", "A"}));
  EXPECT_EQ(by("-size"), (std::vector<std::string>{"z", "A", "c", "b"}));
  EXPECT_EQ(by("time"), (std::vector<std::string>{"z", "c", "A", "b"}));
  EXPECT_EQ(by("<script>"), (std::vector<std::string>{"z", "A", "b", "c"}));
}

TEST(DirectoryIndex, WritesSizesForPeople) {
  EXPECT_EQ(human_size(0), "0");
  EXPECT_EQ(human_size(1023), "1023");
  EXPECT_EQ(human_size(1024), "1.0K");
  EXPECT_EQ(human_size(1536), "1.5K");
  EXPECT_EQ(human_size(10 * 1024), "10K");
  EXPECT_EQ(human_size(1024 * 1024 - 1), "1023K");
  EXPECT_EQ(human_size(100ULL << 20), "100M");
  EXPECT_EQ(human_size(~0ULL), "15E");
}

TEST(DirectoryIndex, HostileNamesStayText) {
  Entries entries;
  for (const char* name : {"<script>alert(1)</script>", "\" onmouseover=\"x", "'", "&lt;",
                           "javascript:x", "a\nb", "%2e%2e", "\xFF", "-rf", "?q#f"}) {
    entries.push_back({.name = name});
  }
  const std::string html = listing_html(page_of(entries), "/<b>\"/");
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
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

TEST(DirectoryIndex, LinksToTheFoldersAboveButAtTheRoot) {
  EXPECT_FALSE(contains(listing_html({}, "/"), "<a href=\"../"));
  EXPECT_TRUE(contains(listing_html({}, "/"), "<h1>/</h1>"));
  EXPECT_TRUE(contains(listing_html({}, "/a/"), "<tr><td><a href=\"../\">../</a></td>"));
  EXPECT_TRUE(contains(listing_html({}, "/<a>/b/c/"),
                       "<h1><a href=\"../../../\" aria-label=\"Root\">/</a>"
                       "<a href=\"../../\">&lt;a&gt;/</a><a href=\"../\">b/</a>c/</h1>"));
}

TEST(DirectoryIndex, FindsPartsOfNames) {
  const auto found = [](std::string_view text) {
    Entries entries = {
        {.name = "Annual.PDF"}, {.name = "b.txt"}, {.name = "pdf", .is_directory = true}};
    filter_entries(entries, text);
    return names(entries);
  };
  EXPECT_EQ(found(""), (std::vector<std::string>{"Annual.PDF", "b.txt", "pdf"}));
  EXPECT_EQ(found("pDf"), (std::vector<std::string>{"Annual.PDF", "pdf"}));
  EXPECT_EQ(found("b.txt"), (std::vector<std::string>{"b.txt"}));
  EXPECT_EQ(found("b.txt2"), (std::vector<std::string>{}));
}

TEST(DirectoryIndex, ASearchLastsOnOtherPagesAndInAnotherOrder) {
  const Entries entries = numbered_entries(2 * page_entries);
  ListingPage page = page_of(entries, "-size", 1);
  page.filter = "1&\"<";
  const std::string html = listing_html(page, "/");
  EXPECT_TRUE(contains(html,
                       "<input type=\"search\" name=\"q\" aria-label=\"Search\" "
                       "value=\"1&amp;&quot;&lt;\">"
                       "<button name=\"sort\" value=\"-size\">Search</button>"));
  EXPECT_TRUE(contains(html, "href=\"?q=1%26%22%3C&amp;sort=-size&amp;page=2\""));
  page.entries = {};
  EXPECT_TRUE(contains(listing_html(page, "/"), "<p>No name contains this text.</p>"));
}

TEST(DirectoryIndex, AGalleryShowsMediaOnceTheyAreInViewOrPlayed) {
  const Entries entries = {{.name = "sub.jpg", .is_directory = true},
                           {.name = "a<.png"},
                           {.name = "b.mp4"},
                           {.name = "c.mp3"},
                           {.name = "d.txt"}};
  ListingPage page = page_of(entries, "time");
  const std::string list = listing_html(page, "/");
  EXPECT_TRUE(
      contains(list, "<a rel=\"nofollow\" href=\"?sort=time&amp;view=gallery\">Gallery</a>"));
  EXPECT_FALSE(contains(list, "<img"));
  page.has_gallery = true;
  const std::string html = listing_html(page, "/");
  EXPECT_TRUE(contains(html, "<a rel=\"nofollow\" href=\"?sort=time\">List</a>"));
  EXPECT_TRUE(contains(html,
                       "<li><a href=\"./a%3C.png\"><img loading=\"lazy\" alt=\"\" "
                       "src=\"./a%3C.png\">a&lt;.png</a></li>"));
  EXPECT_TRUE(contains(html,
                       "<li><video controls preload=\"none\" src=\"./b.mp4\"></video>"
                       "<a href=\"./b.mp4\">b.mp4</a></li>"));
  EXPECT_TRUE(contains(html, "<audio controls preload=\"none\" src=\"./c.mp3\"></audio>"));
  EXPECT_TRUE(contains(html, "<tr><td><a href=\"./sub.jpg/\">"));
  EXPECT_TRUE(contains(html, "<tr><td><a href=\"./d.txt\">"));
  EXPECT_FALSE(contains(html, "<tr><td><a href=\"./b.mp4\">"));
  page.entries = std::span(entries).last(1);
  page.has_gallery = false;
  EXPECT_FALSE(contains(listing_html(page, "/"), "view=gallery"));
}

// Crawlers follow links, but do not press buttons.
TEST(DirectoryIndex, SortsByButtonsThatReverseTheOrder) {
  const std::string by_name = listing_html(page_of({}), "/");
  EXPECT_TRUE(contains(by_name, "<button name=\"sort\" value=\"-name\">Name \u2191</button>"));
  EXPECT_TRUE(contains(by_name, "<button name=\"sort\" value=\"size\">Size</button>"));
  EXPECT_TRUE(contains(by_name, "<th scope=\"col\" aria-sort=\"ascending\">"));
  EXPECT_FALSE(contains(by_name, "href=\"?"));
  const std::string reversed = listing_html(page_of({}, "-name"), "/");
  EXPECT_TRUE(contains(reversed, "<button name=\"sort\" value=\"name\">Name \u2193</button>"));
}

// lftp expects a name in a link, then a date, then a size, as nginx and Apache write them.
TEST(DirectoryIndex, WritesRowsThatProgramsRead) {
  const Entries entries = {
      {.name = "sub", .modified_ns = 0, .is_directory = true},
      {.name = "a", .size_bytes = 1536, .modified_ns = 1'700'000'000'000'000'000}};
  const std::string html = listing_html(page_of(entries), "/");
  EXPECT_TRUE(contains(html,
                       "<tr><td><a href=\"./sub/\">sub/</a></td><td>1970-01-01 00:00</td>"
                       "<td>-</td></tr>\n"));
  EXPECT_TRUE(contains(html,
                       "<tr><td><a href=\"./a\">a</a></td><td>2023-11-14 22:13</td>"
                       "<td>1.5K</td></tr>\n"));
}

TEST(DirectoryIndex, WritesJson) {
  const Entries entries = {
      {.name = "sub", .modified_ns = 0, .is_directory = true},
      {.name = "a\"b", .size_bytes = 5, .modified_ns = 1'700'000'000'123'456'789}};
  EXPECT_EQ(
      listing_json(page_of(entries), "/x/"),
      "{\"path\":\"/x/\",\"total\":2,\"page\":1,\"pages\":1,\"truncated\":false,\"entries\":[\n"
      "{\"name\":\"sub\",\"type\":\"directory\",\"modified\":\"1970-01-01T00:00:00Z\"},\n"
      "{\"name\":\"a\\\"b\",\"type\":\"file\",\"size\":5,\"modified\":\"2023-11-14T22:13:20Z\"}"
      "\n]}\n");
  EXPECT_EQ(listing_json({}, "/"),
            "{\"path\":\"/\",\"total\":0,\"page\":1,\"pages\":1,\"truncated\":false,"
            "\"entries\":[\n]}\n");
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
