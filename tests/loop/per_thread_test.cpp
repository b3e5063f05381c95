// SPDX-License-Identifier: MIT
#include "skua/per_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "skua/loop.hpp"

namespace skua {
namespace {

/// Counts the objects that live, and those that ended on another thread than their own.
struct Kept {
  struct Counts {
    std::atomic<int> alive{0};
    std::atomic<int> strays{0};
  };

  Kept(std::shared_ptr<Counts> counting, std::string text)
      : name(std::move(text)), counts(std::move(counting)) {
    if (name == "throws") throw std::runtime_error("no");
    ++counts->alive;
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() {
    --counts->alive;
    if (std::this_thread::get_id() != thread) ++counts->strays;
  }

  std::string name;
  std::shared_ptr<Counts> counts;
  std::thread::id thread = std::this_thread::get_id();
};

class PerThreadTest : public ::testing::Test {
 protected:
  using Objects = PerThread<Kept>;

  ~PerThreadTest() override {
    EXPECT_EQ(counts->alive, 0);
    EXPECT_EQ(counts->strays, 0);
  }

  std::shared_ptr<Kept::Counts> counts = std::make_shared<Kept::Counts>();
};

TEST_F(PerThreadTest, EachThreadHasOneThatEndsWithItsLoop) {
  const Objects objects(counts, std::string("gull"));
  std::vector<std::thread> threads;
  std::atomic<int> seen{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto loop = Loop::create().value();
      Kept& own = objects.here();
      EXPECT_EQ(own.thread, std::this_thread::get_id());
      EXPECT_EQ(objects->name, "gull");
      EXPECT_EQ(&objects.here(), &own);
      ++seen;
      while (seen < 4) std::this_thread::yield();
      EXPECT_EQ(counts->alive, 4);
      ++seen;
      while (seen < 8) std::this_thread::yield();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counts->alive, 0);
}

TEST_F(PerThreadTest, TheyEndOnTheirThreadAfterTheirOwner) {
  const auto loop = Loop::create().value();
  auto objects = std::make_unique<Objects>(counts, std::string("gull"));
  const Objects others(counts, std::string("tern"));
  EXPECT_EQ(objects->here().name + (*objects)->name + others->name, "gullgulltern");
  EXPECT_EQ(counts->alive, 2);
  std::thread([&] { objects.reset(); }).join();
  EXPECT_EQ(counts->alive, 2);
  loop->poll();
  EXPECT_EQ(counts->alive, 1);
  EXPECT_EQ(others->name, "tern");
}

TEST_F(PerThreadTest, AnOwnerMayOutliveManyLoops) {
  const Objects objects(counts, std::string("gull"));
  for (int i = 0; i < 100; ++i) {
    const auto loop = Loop::create({.backend = BackendChoice::Poll}).value();
    EXPECT_EQ(objects->name, "gull");
    EXPECT_EQ(counts->alive, 1);
  }
}

// throws: per_thread.PerThreadObjects
TEST_F(PerThreadTest, TellsOfAThreadWithoutALoopAndOfWhatIsThrown) {
  const Objects objects(counts, std::string("throws"));
  EXPECT_THROW((void)objects.here(), std::logic_error);
  const auto loop = Loop::create().value();
  EXPECT_THROW((void)objects.here(), std::runtime_error);
  EXPECT_THROW((void)objects->name, std::runtime_error) << "it tries again";
}

/// An object that is made of another thread's own one, and asks for it again as it ends.
struct Nested {
  explicit Nested(const PerThread<Kept>* inner) : objects(inner), name(objects->here().name) {}
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;
  ~Nested() { EXPECT_EQ(objects->here().name, name); }

  const PerThread<Kept>* objects;
  std::string name;
};

TEST_F(PerThreadTest, OneMayUseAnother) {
  const Objects inner(counts, std::string("gull"));
  auto outer = std::make_unique<PerThread<Nested>>(&inner);
  const auto loop = Loop::create().value();
  EXPECT_EQ((*outer)->name, "gull");
  outer.reset();
  loop->poll();
  EXPECT_EQ(counts->alive, 1);
}

}  // namespace
}  // namespace skua
