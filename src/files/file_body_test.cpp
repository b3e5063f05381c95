// SPDX-License-Identifier: MIT
#include "files/file_body.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/file_io.hpp"
#include "skua/async.hpp"
#include "skua/body_writer.hpp"
#include "skua/literals.hpp"
#include "skua/response.hpp"
#include "support/collecting_sink.hpp"
#include "support/held_files.hpp"
#include "support/temporary_directory.hpp"

namespace skua::files {
namespace {

// A sink that never takes a second piece.
class FullSink final : public detail::BodySink {
 public:
  void write(Body&& piece) override { size_bytes += piece.size_bytes(); }
  void add_trailer(std::string_view, std::string_view) override {}
  [[nodiscard]] bool has_room() const noexcept override { return false; }
  void wait(detail::Waiter&, std::coroutine_handle<>) override {}

  std::uint64_t size_bytes = 0;
};

class FileBodyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    text_.resize(200'000);
    for (std::size_t i = 0; i < text_.size(); ++i) text_[i] = static_cast<char>('a' + i % 26);
    tree_.write("file", text_);
  }

  [[nodiscard]] Body body(FilePart part) const {
    const FilePlace place{.path = path()};
    return file_body(place.open().value(), place, part);
  }
  [[nodiscard]] Body whole() const { return body({0, text_.size()}); }
  [[nodiscard]] std::string path() const { return (tree_ / "file").string(); }

  std::string text_;
  support::TemporaryDirectory tree_;
};

TEST_F(FileBodyTest, AFileStaysOpenWhileFewDo) {
  const Body content = whole();
  ASSERT_NE(content.file(), nullptr);
  EXPECT_EQ(content.size_bytes(), text_.size());
}

TEST_F(FileBodyTest, AFileIsReadInPiecesWhileManyAreOpen) {
  support::HeldFiles held(path());
  const std::size_t open = base::open_files_count();
  const Body content = whole();
  EXPECT_EQ(base::open_files_count(), open);
  ASSERT_NE(content.stream(), nullptr);
  EXPECT_EQ((*content.stream())->length_bytes, text_.size());
  EXPECT_EQ(support::produced(content), text_);
  EXPECT_EQ(support::produced(body({70'000, 80'000})), text_.substr(70'000, 80'000));
  held.release_one();
  EXPECT_NE(whole().file(), nullptr);
}

TEST_F(FileBodyTest, NothingIsOpenWhileAPeerIsWaitedFor) {
  const support::HeldFiles held(path());
  const std::size_t open = base::open_files_count();
  const Body content = whole();
  FullSink sink;
  BodyWriter writer(sink);
  Task<> task = (*content.stream())->produce(writer);
  task.start([](void*) noexcept {}, nullptr);
  EXPECT_FALSE(task.is_done());
  EXPECT_EQ(sink.size_bytes, 64_KiB);
  EXPECT_EQ(base::open_files_count(), open);
}

TEST_F(FileBodyTest, AFileThatChangesMeanwhileEndsTheContent) {
  const support::HeldFiles held(path());
  const Body content = whole();
  tree_.write("file", text_ + "more");
  try {
    support::produced(content);
    ADD_FAILURE() << "it was sent";
  } catch (const Exception& error) {
    EXPECT_EQ(error.error().code(), Errc::TruncatedBody);
  }
}

TEST_F(FileBodyTest, AResponseWithAFileIsSentSo) {
  const support::HeldFiles held(path());
  const Response response = Response::file(path(), "text/plain");
  ASSERT_NE(response.content().stream(), nullptr);
  EXPECT_EQ(support::produced(response.content()), text_);
}

}  // namespace
}  // namespace skua::files
