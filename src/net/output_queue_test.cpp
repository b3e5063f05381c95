// SPDX-License-Identifier: MIT
#include "net/output_queue.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

namespace skua::net {
namespace {

class OutputQueueTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::size_t segments() const {
    std::array<Slice, 16> slices;
    return queue_.gather(slices);
  }
  /// Takes everything out.
  std::string taken() {
    std::string text;
    while (!queue_.empty()) {
      text.append(queue_.front().data, queue_.front().size_bytes);
      queue_.consume(queue_.front().size_bytes);
    }
    return text;
  }

  const std::shared_ptr<const std::string> shared_ = std::make_shared<const std::string>(100, 's');
  OutputQueue::Blocks blocks_{2};
  OutputQueue queue_{blocks_};
};

TEST_F(OutputQueueTest, ASharedPieceIsNotCopiedIntoAnEmptyQueue) {
  queue_.append_piece(Body(shared_));
  EXPECT_EQ(queue_.front().data, shared_->data());
  EXPECT_EQ(queue_.pressure_bytes(), 100U);
  EXPECT_EQ(shared_.use_count(), 2);
  EXPECT_EQ(taken(), *shared_);
  EXPECT_EQ(shared_.use_count(), 1);
}

// A reference is larger than a small piece, so memory would not stay in proportion to the output.
TEST_F(OutputQueueTest, FurtherSharedPiecesAreCopiedIntoABlock) {
  for (int i = 0; i < 20; ++i) queue_.append_piece(Body(shared_));
  EXPECT_EQ(segments(), 2U);
  EXPECT_EQ(shared_.use_count(), 2);
  EXPECT_EQ(queue_.pressure_bytes(), 2000U);
  EXPECT_EQ(taken(), std::string(2000, 's'));
}

TEST_F(OutputQueueTest, KeepsTheOrderOfCopiesAndReferences) {
  queue_.append_piece(Body(shared_));
  queue_.append("one,");
  queue_.append_body(Body(std::string(5000, 'b')));
  queue_.append_piece(Body("two"));
  EXPECT_EQ(taken(), *shared_ + "one," + std::string(5000, 'b') + "two");
}

TEST_F(OutputQueueTest, AReferenceIsConsumedInParts) {
  queue_.append_piece(Body(shared_));
  queue_.consume(40);
  EXPECT_EQ(queue_.front().data, shared_->data() + 40);
  EXPECT_EQ(queue_.pressure_bytes(), 60U);
  queue_.consume(60);
  EXPECT_TRUE(queue_.empty());
}

TEST_F(OutputQueueTest, PartsOfAReferenceMoveToAnotherQueue) {
  OutputQueue to(blocks_);
  auto large = std::make_shared<const std::string>(10'000, 'l');
  queue_.append_piece(Body(large));
  queue_.move_front(to, 100);    // copied
  queue_.move_front(to, 9'900);  // shared
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(large.use_count(), 2);
  to.consume(100);
  EXPECT_EQ(to.front().data, large->data() + 100);
  to.clear();
  EXPECT_EQ(large.use_count(), 1);
}

TEST_F(OutputQueueTest, AFileIsTakenOutAsItWasAppended) {
  const std::shared_ptr<const void> owner = shared_;
  queue_.append_body(Body(FileRange{owner, 7, 20, 300}));
  EXPECT_EQ(queue_.pressure_bytes(), OutputQueue::file_pressure_bytes);
  EXPECT_EQ(queue_.front().size_bytes, 300U);
  const Body file = queue_.take_file();
  EXPECT_TRUE(queue_.empty());
  ASSERT_NE(file.file(), nullptr);
  EXPECT_EQ(file.file()->owner, owner);
  EXPECT_EQ(file.file()->file, 7);
  EXPECT_EQ(file.file()->offset, 20U);
  EXPECT_EQ(file.file()->size_bytes, 300U);
}

TEST_F(OutputQueueTest, AReferenceThatWasAFileIsMemoryAgain) {
  queue_.append_body(Body(FileRange{shared_, 7, 0, 300}));
  queue_.clear();
  queue_.append_piece(Body(shared_));
  EXPECT_LT(queue_.front().file, 0);
  EXPECT_EQ(taken(), *shared_);
}

TEST_F(OutputQueueTest, ReferencesAreReused) {
  queue_.append_piece(Body(shared_));
  const Segment* const first = &queue_.front();
  queue_.clear();
  queue_.append_piece(Body(shared_));
  EXPECT_EQ(&queue_.front(), first);
}

}  // namespace
}  // namespace skua::net
