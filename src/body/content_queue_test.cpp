// SPDX-License-Identifier: MIT
#include "body/content_queue.hpp"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "base/disk.hpp"
#include "support/temporary_directory.hpp"

namespace skua::body {
namespace {

using net::OutputQueue;

/// Takes everything out of an output.
std::string taken(OutputQueue& output) {
  std::string text;
  while (!output.empty()) {
    text.append(output.front().data, output.front().size_bytes);
    output.consume(output.front().size_bytes);
  }
  return text;
}

std::string letters(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += static_cast<char>('a' + i % 23);
  return text;
}

class ContentQueueTest : public ::testing::Test {
 protected:
  void append_another() { queue_.append(Body("x")); }
  void drop_another() {
    EXPECT_TRUE(queue_.move_to(output_, {}, 1));
    EXPECT_EQ(taken(output_), "x");
  }

  OutputQueue::Blocks blocks_{8};
  ContentQueue queue_{blocks_};
  OutputQueue output_{blocks_};
};

TEST_F(ContentQueueTest, IsEmptyAtFirst) {
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(queue_.pressure_bytes(), 0U);
  queue_.append(Body());
  queue_.append(Body(std::string()));
  EXPECT_TRUE(queue_.empty());
}

TEST_F(ContentQueueTest, KeepsTheOrderOfPieces) {
  const std::string large = letters(50'000);
  queue_.append(Body("one,"));
  queue_.append(std::string_view("two,"));
  queue_.append(Body(std::string(large)));
  queue_.append(Body("three"));
  const std::string all = "one,two," + large + "three";
  EXPECT_EQ(queue_.size_bytes(), all.size());
  EXPECT_EQ(queue_.pressure_bytes(), all.size());
  std::string got;
  while (!queue_.empty()) {
    const auto count = std::min<std::size_t>(16'384, queue_.size_bytes());
    EXPECT_TRUE(queue_.move_to(output_, {}, count));
    got += taken(output_);
    EXPECT_EQ(queue_.pressure_bytes(), queue_.size_bytes());
  }
  EXPECT_EQ(got, all);
}

TEST_F(ContentQueueTest, GivesPiecesOfEverySize) {
  for (const std::size_t step : {1U, 7U, 4096U, 4097U, 9000U}) {
    const std::string text = letters(20'000);
    queue_.append(Body(std::string(text)));
    queue_.append(Body(std::make_shared<const std::string>(text)));
    queue_.append(Body::borrowed(text));
    std::string got;
    while (!queue_.empty()) {
      EXPECT_TRUE(queue_.move_to(output_, {}, std::min<std::size_t>(step, queue_.size_bytes())));
      got += taken(output_);
    }
    EXPECT_EQ(got, text + text + text) << step;
  }
}

TEST_F(ContentQueueTest, CopiesNoLongText) {
  const auto text = std::make_shared<const std::string>(letters(40'000));
  for (const bool is_first : {true, false}) {
    if (!is_first) append_another();
    queue_.append(Body(text));
    if (!is_first) drop_another();
    EXPECT_TRUE(queue_.move_to(output_, {}, 16'384));
    EXPECT_EQ(output_.front().data, text->data());
    EXPECT_TRUE(queue_.move_to(output_, {}, 40'000 - 16'384));
    queue_.clear();
    EXPECT_EQ(taken(output_), *text);
  }
  EXPECT_EQ(text.use_count(), 1);
}

TEST_F(ContentQueueTest, TextOutlivesTheQueueThatHadIt) {
  const std::string text = letters(40'000);
  {
    ContentQueue gone(blocks_);
    gone.append(Body(std::string(text)));
    EXPECT_TRUE(gone.move_to(output_, {}, 20'000));
  }
  EXPECT_EQ(taken(output_), text.substr(0, 20'000));
}

TEST_F(ContentQueueTest, MayBeClearedAndUsedAgain) {
  queue_.append(Body("one"));
  queue_.append(Body(letters(9000)));
  queue_.clear();
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(queue_.pressure_bytes(), 0U);
  queue_.append(Body("two"));
  EXPECT_TRUE(queue_.move_to(output_, {}, 3));
  EXPECT_EQ(taken(output_), "two");
}

class ContentQueueFiles : public ContentQueueTest {
 protected:
  ContentQueueFiles() {
    const std::string path = directory_.string() + "/file";
    std::ofstream(path, std::ios::binary) << text_;
    file_ = disk::open(path.c_str(), disk::for_reading);
  }
  ~ContentQueueFiles() override { disk::close(file_); }

  Body range(std::uint64_t offset, std::uint64_t size_bytes) {
    return Body(
        FileRange{.owner = nullptr, .file = file_, .offset = offset, .size_bytes = size_bytes});
  }

  // Replaces the content of the file, and returns it.
  std::string rewrite(std::size_t size_bytes) {
    const std::string text = letters(size_bytes);
    std::ofstream(directory_.string() + "/file", std::ios::binary) << text;
    return text;
  }

  static constexpr std::size_t piece_bytes = 16 * 1024 - 9;
  const std::string text_ = letters(20'000);

 private:
  support::TemporaryDirectory directory_;
  int file_ = -1;
};

TEST_F(ContentQueueFiles, AreRead) {
  for (const bool is_first : {true, false}) {
    if (!is_first) append_another();
    queue_.append(range(100, 15'000));
    if (!is_first) drop_another();
    EXPECT_EQ(queue_.pressure_bytes(), OutputQueue::file_pressure_bytes);
    EXPECT_TRUE(queue_.move_to(output_, {}, 9'000));
    EXPECT_TRUE(queue_.move_to(output_, {}, 6'000));
    EXPECT_EQ(taken(output_), text_.substr(100, 15'000));
    EXPECT_EQ(queue_.pressure_bytes(), 0U);
  }
}

TEST_F(ContentQueueFiles, AreReadSuchThatFramesAreOnePiece) {
  const std::string head = "frame 12:";
  const std::string text = rewrite(300'000);
  queue_.append(range(1, text.size() - 1));
  std::string got;
  // The window of the peer lets only a part of the third frame through.
  for (int i = 0; !queue_.empty(); ++i) {
    const bool is_cut = i == 2 || i == 3;
    const std::size_t size = queue_.frame_bytes(i == 2 ? 1'000 : piece_bytes);
    EXPECT_TRUE(is_cut || size == piece_bytes || size == queue_.size_bytes()) << i << ' ' << size;
    EXPECT_TRUE(queue_.move_to(output_, head, size));
    EXPECT_EQ(output_.front().size_bytes == head.size() + size, i != 3) << i;
    const std::string frame = taken(output_);
    EXPECT_EQ(frame.substr(0, head.size()), head);
    got += frame.substr(head.size());
  }
  EXPECT_EQ(got, text.substr(1));
}

TEST_F(ContentQueueFiles, ThatAreShorterAreFilledUp) {
  for (const bool is_first : {true, false}) {
    if (!is_first) append_another();
    queue_.append(range(19'000, 2'000));
    if (!is_first) drop_another();
    EXPECT_FALSE(queue_.move_to(output_, {}, 2'000));
    EXPECT_TRUE(queue_.empty());
    EXPECT_EQ(taken(output_).size(), 2'000U);
  }
}

}  // namespace
}  // namespace skua::body
