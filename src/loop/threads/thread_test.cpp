// SPDX-License-Identifier: MIT
#include "loop/threads/thread.hpp"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "skua/async.hpp"

namespace skua::loop {
namespace {

const auto nothing = [] {};

TEST(LoopThread, RunsWhatIsPostedBetweenItsBeginAndItsEnd) {
  std::vector<std::thread::id> ids;
  const auto remember = [&ids] { ids.push_back(std::this_thread::get_id()); };
  {
    const Thread thread({}, remember, remember);
    EXPECT_EQ(ids.size(), 1U) << "it was waited for";
    EXPECT_TRUE(thread.mailbox()->post(remember));
  }
  ASSERT_EQ(ids.size(), 3U);
  EXPECT_NE(ids[0], std::this_thread::get_id());
  EXPECT_EQ(ids[1], ids[0]);
  EXPECT_EQ(ids[2], ids[0]);
}

TEST(LoopThread, RunsTheEndThoughTheBeginThrows) {
  std::thread::id id;
  const auto end = [&id] { id = std::this_thread::get_id(); };
  EXPECT_THROW(Thread({}, [] { throw std::runtime_error("no"); }, end), std::runtime_error);
  EXPECT_NE(id, std::thread::id());
  EXPECT_NE(id, std::this_thread::get_id());
}

TEST(LoopThread, HasAPool) {
  std::promise<std::thread::id> ran;
  std::thread::id own;
  std::optional<Task<>> task;
  const auto begin = [&] {
    own = std::this_thread::get_id();
    task = offload([&ran] { ran.set_value(std::this_thread::get_id()); });
    task->start([](void*) noexcept {}, nullptr);
  };
  const Thread thread({}, begin, [&task] { task.reset(); });
  EXPECT_NE(ran.get_future().get(), own);
}

TEST(LoopThread, DropsWhatIsPostedTooLate) {
  auto kept = std::make_shared<int>();
  std::shared_ptr<Mailbox> mailbox;
  {
    std::shared_ptr<int> last = kept;
    const Thread thread({}, nothing, [&mailbox, last] {
      mailbox->post([last] { FAIL() << "this comes after the end"; });
    });
    mailbox = thread.mailbox();
  }
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_FALSE(mailbox->post(nothing));
}

}  // namespace
}  // namespace skua::loop
