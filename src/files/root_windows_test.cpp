// SPDX-License-Identifier: MIT
// A served folder on Windows, where a file has many names, and only one of them is served.
#include <gtest/gtest.h>
#include <windows.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/wide_text.hpp"
#include "files/listing/directory_index.hpp"
#include "files/safe_path.hpp"
#include "support/temporary_directory.hpp"

namespace skua::files {
namespace {

class RootWindows : public ::testing::Test {
 protected:
  void write(std::string_view name) const {
    const std::wstring path = base::widen(tree_.string() + "\\" + std::string(name));
    const HANDLE file =
        ::CreateFileW(path.c_str(), GENERIC_WRITE, 0, nullptr, CREATE_NEW, 0, nullptr);
    ASSERT_NE(file, INVALID_HANDLE_VALUE) << name;
    DWORD count = 0;
    ::WriteFile(file, "hello", 5, &count, nullptr);
    ::CloseHandle(file);
  }
  Root open(PathPolicy policy = {}) const { return Root::open(tree_.string(), policy).value(); }
  Errc code(std::string_view path, PathPolicy policy = {}) const {
    const Result<OpenFile> file = open(policy).find(path);
    return file ? Errc::None : file.error().code();
  }

  support::TemporaryDirectory tree_;
};

TEST_F(RootWindows, OpensFilesAndDirectories) {
  write("a.txt");
  tree_.make("dir");
  write("dir\\b.txt");
  const Root root = open();
  const Result<OpenFile> file = root.find("/a.txt");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->stat.size_bytes, 5U);
  EXPECT_EQ(file->stat.kind, FileKind::Regular);
  EXPECT_GT(file->stat.modified_ns, 1'000'000'000'000'000'000);
  EXPECT_EQ(root.find("/dir/b.txt")->stat.size_bytes, 5U);
  for (const std::string_view path : {"/", "/dir", "/dir/"}) {
    EXPECT_EQ(root.find(path)->stat.kind, FileKind::Directory) << path;
  }
  EXPECT_EQ(code("/a.txt/"), Errc::NotFound);
  EXPECT_EQ(code("/nothing"), Errc::NotFound);
}

struct Spelling {
  const char* path;
  const char* why;
};

TEST_F(RootWindows, ServesAFileByItsOwnNameOnly) {
  write("page.html");
  tree_.make("folder");
  write("folder\\page.html");
  const Spelling spellings[] = {
      {"/PAGE.html", "another letter case"},
      {"/Folder/page.html", "another letter case of a folder"},
      {"/page.html.", "a trailing dot is dropped"},
      {"/page.html ", "a trailing space is dropped"},
      {"/folder./page.html", "of a folder, too"},
      {"/page.html::$DATA", "the main stream"},
      {"/page.html:other", "an alternate stream"},
      {"/folder::$INDEX_ALLOCATION/page.html", "the stream of a folder"},
      {"/folder\\page.html", "a backslash separates folders"},
      {"/folder/..\\page.html", "and climbs"},
      {"/C:/windows/win.ini", "a drive"},
      {"/C:page.html", "a file in the current folder of a drive"},
      {"//localhost/c$/windows", "a share"},
      {"/\\?\\C:\\windows", "a path that is taken literally"},
      {"/./page.html", "a step that stays"},
      {"/folder/../page.html", "a step up"},
      {"/page.htm?", "a pattern"},
      {"/page.*", "a pattern"},
      {"/page.<", "a pattern of DOS"},
      {"/page\xff.html", "not UTF-8"},
  };
  EXPECT_EQ(code("/page.html"), Errc::None);
  EXPECT_EQ(code("/folder/page.html"), Errc::None);
  for (const Spelling& spelling : spellings) {
    EXPECT_EQ(code(spelling.path), Errc::NotFound) << spelling.path << ": " << spelling.why;
  }
}

TEST_F(RootWindows, OpensNoDevices) {
  for (const std::string_view name :
       {"CON", "con", "NUL", "nul.txt", "AUX", "PRN", "COM1", "com9.x", "LPT1", "COM\u00B9",
        "CONIN$", "CONOUT$", "CLOCK$"}) {
    EXPECT_EQ(code("/" + std::string(name)), Errc::NotFound) << name;
  }
}

TEST_F(RootWindows, RefusesShortNames) {
  write("a rather long name.html");
  std::wstring path = base::widen(tree_.string() + "\\a rather long name.html");
  std::wstring shorter(MAX_PATH, L'\0');
  shorter.resize(::GetShortPathNameW(path.c_str(), shorter.data(), MAX_PATH));
  const std::string name = base::narrow(shorter.substr(shorter.rfind(L'\\') + 1));
  if (name.find('~') == name.npos) GTEST_SKIP() << "this volume has no short names";
  EXPECT_EQ(code("/a rather long name.html"), Errc::None);
  EXPECT_EQ(code("/" + name), Errc::NotFound) << name;
}

TEST_F(RootWindows, FollowsNoLinks) {
  write("a.txt");
  const std::wstring link = base::widen(tree_.string() + "\\link.txt");
  if (::CreateSymbolicLinkW(link.c_str(), L"a.txt", 0) == 0) {
    GTEST_SKIP() << "this user may not create links";
  }
  EXPECT_EQ(code("/link.txt"), Errc::NotFound);
}

TEST_F(RootWindows, NamesAreUnicode) {
  const std::string name = "gr\u00F6\u00DFe \u2713 \U0001F600.txt";
  write(name);
  EXPECT_EQ(code("/" + name), Errc::None);
  const auto root = std::make_shared<const Root>(open());
  Result<DirectoryReader> reader = DirectoryReader::open(root, "/");
  ASSERT_TRUE(reader);
  std::vector<DirectoryEntry> entries;
  EXPECT_FALSE(reader->read(entries, 10).value());
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries.front().name, name);
  EXPECT_EQ(entries.front().size_bytes, 5U);
}

TEST_F(RootWindows, AFileThatIsServedCanBeRemoved) {
  write("a.txt");
  const Root root = open();
  {
    const Result<OpenFile> file = root.find("/a.txt");
    ASSERT_TRUE(file);
    EXPECT_EQ(disk::unlink((tree_.string() + "\\a.txt").c_str()), 0);
  }
  EXPECT_EQ(code("/a.txt"), Errc::NotFound);
}

}  // namespace
}  // namespace skua::files
