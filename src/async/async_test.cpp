// SPDX-License-Identifier: MIT
#include "skua/async.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace skua {
namespace {

using detail::WaiterList;

/// A stand-in for a loop: resumes woken waiters.
class Ready {
 public:
  Ready() : outer_(WaiterList::exchange_ready(&list_)) {}
  ~Ready() { WaiterList::exchange_ready(outer_); }
  void turn() { list_.resume_all(); }
  void settle() {
    while (!list_.empty()) turn();
  }

 private:
  WaiterList list_;
  WaiterList* outer_;
};

std::string long_text(std::string_view text) {
  return std::string(text) + " on the heap, since it is too long for the small-string buffer";
}

Task<int> seven() { co_return 7; }
Task<int> throwing() {
  throw std::runtime_error("thrown");
  co_return 0;
}
Task<std::string> after(Event& event, std::string text) {
  co_await event.wait();
  co_return text;
}

template <class T>
void start(Task<T>& task) {
  task.start(nullptr, nullptr);
}

TEST(Task, EndsInlineWhenItNeedNotWait) {
  auto task = []() -> Task<int> {
    const int one = co_await seven();
    const int two = co_await seven();
    co_return one + two;
  }();
  start(task);
  ASSERT_TRUE(task.is_done());
  EXPECT_EQ(task.result(), 14);
}

TEST(Task, HandsAnExceptionToWhoeverAwaitsIt) {
  auto task = []() -> Task<std::string> {
    try {
      co_await throwing();
    } catch (const std::runtime_error& error) {
      co_return error.what();
    }
    co_return "nothing was thrown";
  }();
  start(task);
  EXPECT_EQ(task.result(), "thrown");
  Task<int> alone = throwing();
  start(alone);
  EXPECT_THROW(alone.result(), std::runtime_error);
}

TEST(Task, DoesNotGrowTheStackInALoopOfTasksThatEndAtOnce) {
  auto task = []() -> Task<int> {
    int sum = 0;
    for (int i = 0; i < 300'000; ++i) sum += co_await seven();
    co_return sum;
  }();
  start(task);
  EXPECT_EQ(task.result(), 2'100'000);
}

TEST(Task, DestroysAllItOwnsWhenDroppedWhereItWaits) {
  Ready ready;
  Event event;
  const auto counted = std::make_shared<int>();
  {
    auto outer = [](Event& happened, std::shared_ptr<int> held) -> Task<> {
      const std::string local = long_text("local");
      const std::string text = co_await after(happened, long_text("argument"));
      EXPECT_TRUE(text.empty() && held == nullptr) << "it was resumed";
    }(event, counted);
    start(outer);
    EXPECT_EQ(counted.use_count(), 2);
  }
  EXPECT_EQ(counted.use_count(), 1);
  event.set();  // no waiter is left to resume
  ready.settle();
}

TEST(Task, IsNotResumedWhenItIsDroppedAfterItWasWoken) {
  Ready ready;
  Event event;
  {
    Task<std::string> task = after(event, long_text("text"));
    start(task);
    event.set();
  }
  ready.settle();
}

TEST(Task, RefusesToWaitWithoutALoop) {
  Event event;
  Task<std::string> task = after(event, "text");
  start(task);
  ASSERT_TRUE(task.is_done());
  EXPECT_THROW(task.result(), std::logic_error);
}

TEST(Task, TellsItsDriverWhenItEnds) {
  Ready ready;
  Event event;
  Task<std::string> task = after(event, long_text("text"));
  int ended = 0;
  task.start([](void* count) noexcept { ++*static_cast<int*>(count); }, &ended);
  EXPECT_EQ(ended, 0);
  event.set();
  ready.settle();
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(task.result(), long_text("text"));
}

TEST(Event, ResumesAllWhoWaitAndLetsLaterOnesThrough) {
  Ready ready;
  Event event;
  int through = 0;
  auto wait = [](Event& happened, int& count) -> Task<> {
    co_await happened.wait();
    ++count;
  };
  Task<> first = wait(event, through);
  Task<> second = wait(event, through);
  start(first);
  start(second);
  event.set();
  EXPECT_EQ(through, 0) << "never from inside set()";
  ready.turn();
  EXPECT_EQ(through, 2);
  Task<> third = wait(event, through);
  start(third);
  EXPECT_EQ(through, 3);
  event.reset();
  Task<> fourth = wait(event, through);
  start(fourth);
  EXPECT_EQ(through, 3);
}

TEST(Channel, MakesTheFasterSideWait) {
  Ready ready;
  Channel<int> channel(2);
  std::string log;
  auto produce = [](Channel<int>& out, std::string& written) -> Task<> {
    for (int i = 0; i < 5; ++i) {
      const bool is_open = co_await out.send(i);
      EXPECT_TRUE(is_open);
      written.append("s");
    }
    out.close();
  };
  auto consume = [](Channel<int>& in, std::string& written) -> Task<> {
    while (true) {
      const std::optional<int> value = co_await in.receive();
      if (!value) break;
      written.append(std::to_string(*value));
    }
    written.append(".");
  };
  Task<> producer = produce(channel, log);
  start(producer);
  EXPECT_EQ(log, "ss");
  Task<> consumer = consume(channel, log);
  start(consumer);
  ready.settle();
  EXPECT_TRUE(producer.is_done());
  EXPECT_TRUE(consumer.is_done());
  std::string received;
  for (const char c : log) {
    if (c != 's') received.push_back(c);
  }
  EXPECT_EQ(received, "01234.");
}

TEST(Channel, LosesNothingWhenAReceiverIsDroppedAfterItWasWoken) {
  Ready ready;
  Channel<int> channel(1);
  auto first = std::make_unique<Task<std::optional<int>>>(channel.receive());
  Task<std::optional<int>> second = channel.receive();
  start(*first);
  start(second);
  EXPECT_TRUE(channel.try_send(7));
  EXPECT_FALSE(channel.try_send(8));
  first.reset();
  ready.settle();
  ASSERT_TRUE(second.is_done());
  EXPECT_EQ(second.result(), 7);
}

TEST(Channel, RefusesValuesOnceClosed) {
  Channel<int> channel(1);
  channel.close();
  EXPECT_FALSE(channel.try_send(1));
  Task<bool> sent = channel.send(1);
  start(sent);
  EXPECT_FALSE(sent.result());
}

TEST(Scope, DropsItsChildrenWithItself) {
  Ready ready;
  Event event;
  const auto counted = std::make_shared<int>();
  {
    Scope scope;
    scope.spawn([](Event& happened, std::shared_ptr<int>) -> Task<> { co_await happened.wait(); }(
                                                              event, counted));
    EXPECT_EQ(scope.size(), 1U);
    EXPECT_EQ(counted.use_count(), 2);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(Scope, DestroysWhatAnEndedChildOwned) {
  Ready ready;
  Event event;
  const auto counted = std::make_shared<int>();
  Scope scope;
  const auto child = [](Event& happened, std::shared_ptr<int>) -> Task<> {
    co_await happened.wait();
  };
  scope.spawn(child(event, counted));
  event.set();
  scope.spawn(child(event, counted));  // ends at once
  EXPECT_EQ(counted.use_count(), 2);
  ready.settle();
  EXPECT_EQ(scope.size(), 0U);
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(Scope, MayHaveVeryManyChildrenThatEndInAnyOrder) {
  constexpr int count = 200'000;  // a destructor that calls itself for each would need 20 MB
  Ready ready;
  std::vector<std::unique_ptr<Event>> ends;
  const auto counted = std::make_shared<int>();
  const auto child = [](Event& end, std::shared_ptr<int>) -> Task<> { co_await end.wait(); };
  {
    Scope scope;
    for (int i = 0; i < count; ++i) {
      ends.push_back(std::make_unique<Event>());
      scope.spawn(child(*ends.back(), counted));
    }
    EXPECT_EQ(counted.use_count(), count + 1);
    for (int i = 0; i < count; i += 2) ends[static_cast<std::size_t>(i)]->set();
    ready.settle();
    EXPECT_EQ(scope.size(), count / 2U);
    EXPECT_EQ(counted.use_count(), count / 2 + 1);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(Scope, JoinsItsChildrenAndHandsOnWhatOneThrew) {
  Ready ready;
  Event event;
  auto parent = [](Event& happened) -> Task<std::string> {
    Scope scope;
    scope.spawn([](Event& it) -> Task<> {
      co_await it.wait();
      throw std::runtime_error("of a child");
    }(happened));
    scope.spawn([](Event& it) -> Task<> { co_await it.wait(); }(happened));
    scope.spawn([]() -> Task<> { co_return; }());
    EXPECT_EQ(scope.size(), 2U);
    try {
      co_await scope.join();
    } catch (const std::runtime_error& error) {
      co_return error.what();
    }
    co_return "nothing";
  }(event);
  start(parent);
  event.set();
  ready.settle();
  ASSERT_TRUE(parent.is_done());
  EXPECT_EQ(parent.result(), "of a child");
}

TEST(WhenAll, WaitsForAllAndKeepsTheirOrder) {
  Ready ready;
  Event event;
  auto task = [](Event& happened) -> Task<std::string> {
    auto both = when_all(after(happened, long_text("text")), seven());
    const auto results = co_await both;
    co_return std::get<0>(results) + std::to_string(std::get<1>(results));
  }(event);
  start(task);
  EXPECT_FALSE(task.is_done());
  event.set();
  ready.settle();
  EXPECT_EQ(task.result(), long_text("text") + "7");
}

TEST(WhenAll, TakesAsManyTasksAsAVectorHolds) {
  Ready ready;
  std::vector<Task<int>> tasks;
  for (int i = 0; i < 3; ++i) tasks.push_back(seven());
  Task<std::vector<int>> all = when_all(std::move(tasks));
  start(all);
  EXPECT_EQ(all.result(), (std::vector<int>{7, 7, 7}));
}

TEST(WhenAll, ThrowsWhatATaskThrew) {
  Task<std::tuple<int, int>> all = when_all(seven(), throwing());
  start(all);
  ASSERT_TRUE(all.is_done());
  EXPECT_THROW(all.result(), std::runtime_error);
}

TEST(Yield, LetsOthersGoFirst) {
  Ready ready;
  std::string log;
  auto write = [](std::string& out, std::string_view what) -> Task<> {
    out.append(what);
    co_await yield();
    out.append(what);
  };
  Task<> a = write(log, "a");
  Task<> b = write(log, "b");
  start(a);
  start(b);
  ready.settle();
  EXPECT_EQ(log, "abab");
}

struct Large {
  std::string text{};
};
static_assert(SafeInAwait<int (*)()>);
static_assert(SafeInAwait<Large&>);
static_assert(!SafeInAwait<Large>, "GCC 12 would copy it bitwise");

}  // namespace
}  // namespace skua
