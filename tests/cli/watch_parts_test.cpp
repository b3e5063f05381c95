// SPDX-License-Identifier: MIT
// The parts of `skua serve --watch`: which changes count, and where the script goes.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "serve/watch/burst.hpp"
#include "serve/watch/folder_changes.hpp"
#include "serve/watch/page_tag.hpp"
#include "serve/watch/polled_folder.hpp"
#include "support/temporary_directory.hpp"

namespace skua::cli {
namespace {

using Event = Burst::Event;

TEST(Burst, StyleSheetsAloneAreStyles) {
  Burst burst;
  EXPECT_EQ(burst.take(), Change::None);
  burst.add("a.css", Event::Changed);
  burst.add("b/C.CSS", Event::Vanished);
  EXPECT_EQ(burst.take(), Change::Styles);
  burst.add("a.css", Event::Changed);
  burst.add("a.html", Event::Changed);
  EXPECT_EQ(burst.take(), Change::Pages);
  burst.add(".css", Event::Changed);
  EXPECT_EQ(burst.take(), Change::Pages);
  EXPECT_EQ(burst.take(), Change::None);
}

TEST(Burst, TemporaryNamesDoNotCount) {
  Burst burst;
  burst.add("4913", Event::Begun);
  burst.add("4913", Event::Vanished);
  burst.add("a.css.new", Event::Begun);
  burst.add("a.css.new", Event::Changed);
  burst.add("a.css.new", Event::Vanished);
  burst.add("a.css", Event::Changed);
  EXPECT_EQ(burst.take(), Change::Styles);
  burst.add("a.html", Event::Vanished);  // it was there before
  EXPECT_EQ(burst.take(), Change::Pages);
}

TEST(Burst, AFileCountsOnceItIsWritten) {
  Burst burst;
  burst.add("a.html", Event::Begun);
  EXPECT_EQ(burst.take(), Change::None);
  burst.add("a.html", Event::Changed);
  EXPECT_EQ(burst.take(), Change::Pages);
  burst.add("b.tmp", Event::Begun);
  EXPECT_EQ(burst.take(), Change::None);
  burst.add("b.tmp", Event::Vanished);
  EXPECT_EQ(burst.take(), Change::None);
}

TEST(Burst, RemembersABoundedNumberOfNames) {
  Burst burst;
  for (std::size_t i = 0; i <= Burst::max_names; ++i) {
    burst.add(std::to_string(i) + ".css", Event::Changed);
  }
  EXPECT_EQ(burst.count(), Burst::max_names + 2);
  EXPECT_EQ(burst.take(), Change::Pages);
  EXPECT_EQ(burst.take(), Change::None);
}

TEST(PageTag, StandsBeforeTheEndOfTheBody) {
  for (const std::string_view end :
       {"</body>", "</body></html>", "</BODY >\r\n</Html\t>\n\n", "</body>\n"}) {
    EXPECT_EQ(place_of_tag("<p>" + std::string(end)), 3U) << end;
  }
  for (const std::string_view page :
       {"", "<p>text", "<p></html>", "<!-- </body> -->", "<script>x = '</body>'</script>",
        "</body>text</html>", "</bodyy></html>", "< /body>", "body>", "</html></body>x", ">"}) {
    EXPECT_EQ(place_of_tag(page), page.size()) << page;
  }
}

TEST(PageTag, HasTheEncodingOfThePage) {
  const auto encode = [](std::string_view head, bool is_even) {
    return encode_for_page("<s>", head, is_even);
  };
  EXPECT_EQ(encode("<!", true), "<s>");
  EXPECT_EQ(encode("", false), "<s>");
  EXPECT_EQ(encode("\xEF\xBB\xBF<", false), "<s>");
  EXPECT_EQ(encode("\xFF\xFE", true), std::string_view("<\0s\0>\0", 6));
  EXPECT_EQ(encode("\xFE\xFF", true), std::string_view("\0<\0s\0>", 6));
  EXPECT_EQ(encode("\xFE\xFF", false), "");
}

TEST(WatchedNames, AreThoseThatAreServed) {
  for (const char* name : {"a.html", "a~b", "#", "4913"}) {
    EXPECT_TRUE(is_watched_name(name, {})) << name;
  }
  for (const char* name : {".git", ".a.swp", "a.html~", "#a.html#", ".skua-upload-1"}) {
    EXPECT_FALSE(is_watched_name(name, {})) << name;
  }
  EXPECT_TRUE(is_watched_name(".well", {.dotfiles = true}));
  EXPECT_FALSE(is_watched_name(".skua-upload-1", {.dotfiles = true}));
}

TEST(PolledFolder, FindsWhatHasChangedSinceTheLastLook) {
  const support::TemporaryDirectory tree;
  tree.write("a.html", "a");
  tree.write("b/c.css", "c");
  PolledFolder folder(tree.string(), {});
  Burst burst;
  const auto look = [&] {
    folder.look(burst);
    return burst.take();
  };
  EXPECT_EQ(look(), Change::None);
  tree.write("b/c.css", "longer");
  EXPECT_EQ(look(), Change::Styles);
  tree.write("b/.hidden/a.html", "a");
  EXPECT_EQ(look(), Change::None);
  tree.write("d/e.html", "e");
  EXPECT_EQ(look(), Change::Pages);
  std::filesystem::remove_all(tree / "d");
  EXPECT_EQ(look(), Change::Pages);
  std::filesystem::remove(tree / "b/c.css");
  EXPECT_EQ(look(), Change::Styles);
  EXPECT_EQ(folder.text(), "each second");
}

TEST(PolledFolder, StopsAtOnce) {
  const support::TemporaryDirectory tree;
  PolledFolder folder(tree.string(), {});
  folder.stop();
  Burst burst;
  EXPECT_FALSE(folder.wait(burst, std::chrono::milliseconds(-1)));
}

#if defined(__linux__)
class FolderChangesTest : public ::testing::Test {
 protected:
  // Returns the kind of all changes so far.
  Change changes() {
    if (changes_ == nullptr) changes_ = FolderChanges::open(tree_.string(), {}).value();
    Burst burst;
    std::size_t count = 0;
    do {
      count = burst.count();
      EXPECT_TRUE(changes_->wait(burst, std::chrono::milliseconds(0)));
    } while (burst.count() != count);
    return burst.take();
  }

  support::TemporaryDirectory tree_;
  std::unique_ptr<FolderChanges> changes_;
};

TEST_F(FolderChangesTest, FindsFilesThatAreWrittenRenamedAndRemoved) {
  tree_.write("a/b/c.css", "c");
  EXPECT_EQ(changes(), Change::None);
  EXPECT_EQ(changes_->text(), "at once");
  tree_.write("a/b/c.css", "new");
  EXPECT_EQ(changes(), Change::Styles);
  tree_.write("new", "newer");
  std::filesystem::rename(tree_ / "new", tree_ / "a/b/c.css");
  EXPECT_EQ(changes(), Change::Styles);
  std::filesystem::remove(tree_ / "a/b/c.css");
  EXPECT_EQ(changes(), Change::Styles);
  tree_.write("a/index.html", "a");
  EXPECT_EQ(changes(), Change::Pages);
  tree_.link("index.html", "a/link.html");
  EXPECT_EQ(changes(), Change::Pages);
  std::filesystem::create_hard_link(tree_ / "a/index.html", tree_ / "a/hard.html");
  EXPECT_EQ(changes(), Change::Pages);
}

TEST_F(FolderChangesTest, FollowsFoldersThatAreMadeMovedAndRemoved) {
  EXPECT_EQ(changes(), Change::None);
  tree_.write("x/y/z.html", "z");
  EXPECT_EQ(changes(), Change::Pages);
  tree_.write("x/y/z.css", "z");
  EXPECT_EQ(changes(), Change::Styles);
  std::filesystem::rename(tree_ / "x", tree_ / "w");
  EXPECT_EQ(changes(), Change::Pages);
  tree_.write("w/y/z.css", "new");
  EXPECT_EQ(changes(), Change::Styles);
  const support::TemporaryDirectory elsewhere;
  std::filesystem::rename(tree_ / "w", elsewhere / "w");
  EXPECT_EQ(changes(), Change::Pages);
  elsewhere.write("w/y/z.css", "unknown");
  EXPECT_EQ(changes(), Change::None);
  std::filesystem::rename(elsewhere / "w", tree_ / "back");
  EXPECT_EQ(changes(), Change::Pages);
  tree_.write("back/y/z.css", "known");
  EXPECT_EQ(changes(), Change::Styles);
}

TEST_F(FolderChangesTest, IgnoresWhatIsNotServed) {
  tree_.write(".git/index", "i");
  const support::TemporaryDirectory outside;
  outside.write("a.html", "a");
  tree_.link(outside.string(), "link");
  EXPECT_EQ(changes(), Change::None);
  tree_.write(".git/index", "j");
  tree_.write(".page.html.swp", "s");
  tree_.write("page.html~", "s");
  tree_.write(".new/page.html", "s");
  outside.write("a.html", "b");
  EXPECT_EQ(changes(), Change::None);
}

TEST_F(FolderChangesTest, AnOverflowIsAChangeAndLosesNoFolder) {
  EXPECT_EQ(changes(), Change::None);
  tree_.write("first.css", "");
  const std::string limit = "/proc/sys/fs/inotify/max_queued_events";
  std::size_t queued = 16'384;
  if (FILE* const file = std::fopen(limit.c_str(), "r")) {
    if (std::fscanf(file, "%zu", &queued) != 1) queued = 16'384;
    std::fclose(file);
  }
  if (queued > 100'000) GTEST_SKIP() << "the queue is too long to fill: " << queued;
  for (std::size_t i = 0; i < queued; ++i) {  // two names, so that no two events are merged
    std::filesystem::rename(tree_ / "first.css", tree_ / "second.css");
    std::filesystem::rename(tree_ / "second.css", tree_ / "first.css");
  }
  tree_.write("made/late.css", "");
  EXPECT_EQ(changes(), Change::Pages);
  tree_.write("made/late.css", "new");
  EXPECT_EQ(changes(), Change::Styles);
}

TEST_F(FolderChangesTest, SaysThatTheFolderIsMissing) {
  const auto opened = FolderChanges::open((tree_ / "none").string(), {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), Errc::NotFound);
}
#endif

}  // namespace
}  // namespace skua::cli
