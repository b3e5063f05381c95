// SPDX-License-Identifier: MIT
// Files that only the disk has: they are sent as others are, and nobody else waits for them.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "body/cold_files.hpp"
#include "body/outgoing_body.hpp"
#include "skua.hpp"
#include "support/cold_file.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_worker.hpp"

namespace skua {
namespace {

using body::ColdFiles;
using testing::Answer;
using testing::Client;
using testing::get;
using testing::TestWorker;

// A disk whose reads end when the test says so. A window that was read stays in memory.
class SlowDisk final : public body::PageCache {
 public:
  [[nodiscard]] bool has(int, std::uint64_t offset, std::uint64_t,
                         std::uint32_t) const noexcept override {
    const std::lock_guard lock(mutex_);
    ++checks_;
    return is_warm_ || read_.contains(offset);
  }
  void read(int file, std::uint64_t offset, std::uint64_t size_bytes,
            std::uint64_t ahead_bytes) const noexcept override {
    std::unique_lock lock(mutex_);
    ++begun_;
    is_read_by_loop_ |= std::this_thread::get_id() == loop_thread_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return is_working_; });
    system().read(file, offset, size_bytes, ahead_bytes);
    read_.insert(offset);
  }

  void warm_up() {
    const std::lock_guard lock(mutex_);
    is_warm_ = true;
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    is_working_ = false;
  }
  void go_on() {
    const std::lock_guard lock(mutex_);
    is_working_ = true;
    changed_.notify_all();
  }
  void wait_for_reads(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_ >= count; });
  }
  [[nodiscard]] int begun() const {
    const std::lock_guard lock(mutex_);
    return begun_;
  }
  [[nodiscard]] int checks() const {
    const std::lock_guard lock(mutex_);
    return checks_;
  }
  [[nodiscard]] bool is_read_by_loop() const {
    const std::lock_guard lock(mutex_);
    return is_read_by_loop_;
  }

 private:
  const std::thread::id loop_thread_ = std::this_thread::get_id();
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::set<std::uint64_t> read_;  // offsets of windows
  mutable int checks_ = 0;
  mutable int begun_ = 0;
  mutable bool is_read_by_loop_ = false;
  bool is_working_ = true;
  bool is_warm_ = false;
};

class ColdFilesTest : public ::testing::TestWithParam<BackendChoice> {
 protected:
  static constexpr std::size_t small_bytes = 60'000;
  static constexpr std::size_t large_bytes = 3 * ColdFiles::window_bytes + 5;

  void SetUp() override {
    for (std::size_t i = 0; i < large_bytes; ++i) {
      text_ += static_cast<char>('a' + (i / 7 + i / 4099) % 26);
    }
    folder_.write("large", text_);
    folder_.write("medium", text_.substr(0, 300'000));
    folder_.write("small", text_.substr(0, small_bytes));
    router_.files("/files", folder_.string());
    router_.get("/hello", [] { return "hello"; });
  }
  // A worker that has the slow disk.
  std::unique_ptr<TestWorker> worker(const ServerOptions& options = {}) {
    auto worker = std::make_unique<TestWorker>(router_, GetParam(), options);
    ColdFiles::of((**worker).loop())->use(disk_);
    return worker;
  }
  // Runs the worker until the disk is asked for as many windows.
  void turn_until_reads(TestWorker& worker, int count) const {
    worker.turn_until([&] { return disk_.begun() >= count; });
    EXPECT_EQ(disk_.begun(), count);
  }

  // Reads on another thread, while the worker runs on this one.
  static std::optional<Answer> answer(TestWorker& worker, Client& client) {
    auto reading = std::async(std::launch::async, [&] { return client.answer(); });
    while (reading.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      (*worker).run_once(1ms);
    }
    return reading.get();
  }
  static std::optional<Answer> ask(TestWorker& worker, Client& client, std::string_view bytes) {
    client.send(bytes);
    return answer(worker, client);
  }
  // Its body; empty if it was cut short.
  static std::string body_of(TestWorker& worker, Client& client) {
    const auto whole = answer(worker, client);
    return whole ? whole->body : std::string();
  }

  std::string text_;
  support::TemporaryDirectory folder_;
  Router router_;
  SlowDisk disk_;  // outlives workers
};

TEST_P(ColdFilesTest, AreReadByThePoolWindowByWindow) {
  const auto worker = this->worker();
  Client client = worker->connect();
  const auto answer = ask(*worker, client, get("/files/large"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->field("content-length"), std::to_string(large_bytes));
  EXPECT_TRUE(answer->body == text_);
  EXPECT_EQ(disk_.begun(), 4);
  EXPECT_FALSE(disk_.is_read_by_loop());
  // From now on all of it is in memory.
  EXPECT_TRUE(ask(*worker, client, get("/files/large"))->body == text_);
  EXPECT_EQ(disk_.begun(), 4);
}

TEST_P(ColdFilesTest, DoNotDelayOtherClients) {
  const auto worker = this->worker();
  disk_.stop();
  Client client = worker->connect();
  client.send(get("/files/medium"));
  turn_until_reads(*worker, 1);
  Client other = worker->connect();
  EXPECT_EQ(ask(*worker, other, get("/hello"))->body, "hello");
  disk_.go_on();
  EXPECT_TRUE(body_of(*worker, client) == text_.substr(0, 300'000));
  EXPECT_FALSE(disk_.is_read_by_loop());
}

TEST_P(ColdFilesTest, ArePartlySent) {
  const auto worker = this->worker();
  Client client = worker->connect();
  const auto part = ask(*worker, client, get("/files/large", "Range: bytes=1000-1999999\r\n"));
  ASSERT_TRUE(part);
  EXPECT_EQ(part->status, 206);
  EXPECT_EQ(part->field("content-range"), "bytes 1000-1999999/" + std::to_string(large_bytes));
  EXPECT_TRUE(part->body == text_.substr(1000, 1'999'000));
  EXPECT_EQ(disk_.begun(), 2);
}

TEST_P(ColdFilesTest, AreNotReadForTheirHead) {
  const auto worker = this->worker();
  Client client = worker->connect();
  client.send("HEAD /files/large HTTP/1.1\r\nHost: t\r\n\r\n");
  worker->turn_until_readable(client);
  EXPECT_EQ(client.answer(true)->field("content-length"), std::to_string(large_bytes));
  EXPECT_EQ(disk_.checks(), 0);
}

TEST_P(ColdFilesTest, AreSentInTheOrderOfTheRequests) {
  const auto worker = this->worker();
  Client client = worker->connect();
  client.send(get("/files/medium") + get("/hello") + get("/files/large"));
  EXPECT_EQ(body_of(*worker, client).size(), 300'000U);
  EXPECT_EQ(body_of(*worker, client), "hello");
  EXPECT_TRUE(body_of(*worker, client) == text_);
}

TEST_P(ColdFilesTest, AreDroppedWithTheirClient) {
  const auto worker = this->worker();
  disk_.stop();
  {
    Client client = worker->connect();
    client.send(get("/files/large"));
    turn_until_reads(*worker, 1);
  }
  worker->turn_until([&] { return worker->counters().handlers_cancelled == 1; });
  disk_.go_on();
  Client next = worker->connect();
  EXPECT_TRUE(ask(*worker, next, get("/files/large"))->body == text_);
}

TEST_P(ColdFilesTest, AreCutOffIfTheyShrinkMeanwhile) {
  const auto worker = this->worker();
  disk_.stop();
  Client client = worker->connect();
  client.send(get("/files/medium"));
  turn_until_reads(*worker, 1);
  std::filesystem::resize_file(folder_ / "medium", 10);
  disk_.go_on();
  EXPECT_FALSE(answer(*worker, client));
}

TEST_P(ColdFilesTest, AreSentBeforeADrainEnds) {
  const auto worker = this->worker();
  disk_.stop();
  Client client = worker->connect();
  client.send(get("/files/large"));
  turn_until_reads(*worker, 1);
  (**worker).begin_drain();
  worker->settle();
  disk_.go_on();
  EXPECT_TRUE(body_of(*worker, client) == text_);
}

TEST_P(ColdFilesTest, WaitForAPoolThatIsFull) {
  std::mutex busy;
  router_.get("/busy", [&]() -> Task<std::string> {
    const auto wait = [&] { const std::lock_guard lock(busy); };
    co_await offload(wait);
    co_return "done";
  });
  std::unique_lock lock(busy);
  const auto worker = this->worker({.offload_threads = 1, .offload_queue = 0});
  Client first = worker->connect();
  first.send(get("/busy"));
  worker->settle();
  Client client = worker->connect();
  client.send(get("/files/medium"));
  worker->settle();
  worker->advance(1s);
  EXPECT_EQ(disk_.begun(), 0);
  lock.unlock();
  EXPECT_EQ(body_of(*worker, first), "done");
  worker->turn_until([&] {
    worker->advance(20ms);
    return disk_.begun() != 0;
  });
  EXPECT_TRUE(body_of(*worker, client) == text_.substr(0, 300'000));
  EXPECT_FALSE(disk_.is_read_by_loop());
}

TEST_P(ColdFilesTest, LeaveRoomInThePool) {
  const auto worker = this->worker({.offload_threads = 16});
  disk_.stop();
  std::vector<Client> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(worker->connect());
    // Different windows, so that each has to be read.
    clients.back().send(
        get("/files/large", "Range: bytes=" + std::to_string(i) + "-" + "2000\r\n"));
  }
  turn_until_reads(*worker, static_cast<int>(ColdFiles::reads_at_once));
  worker->settle();
  clients.erase(clients.begin() + 5);  // it still waits
  worker->settle();
  EXPECT_EQ(disk_.begun(), static_cast<int>(ColdFiles::reads_at_once));
  disk_.go_on();
  for (Client& client : clients) EXPECT_EQ(answer(*worker, client)->status, 206);
  EXPECT_EQ(disk_.begun(), 7);
}

TEST_P(ColdFilesTest, AreCheckedOnceASecondWhileTheyStayOpen) {
  const auto file = std::make_shared<const disk::Descriptor>(
      ::open((folder_ / "medium").c_str(), O_RDONLY | O_CLOEXEC));
  router_.get("/open", [file] {
    Response response(Status::Ok, FileRange{file, file->number(), 0, 300'000}, "text/plain");
    response.header("ETag", "\"1\"");
    return response;
  });
  disk_.warm_up();
  const auto worker = this->worker();
  Client client = worker->connect();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ask(*worker, client, get("/open"))->body.size(), 300'000U);
  }
  EXPECT_EQ(ask(*worker, client, get("/open", "Range: bytes=5-99\r\n"))->body.size(), 95U);
  EXPECT_EQ(disk_.checks(), 1);
  worker->advance(1s);
  EXPECT_EQ(ask(*worker, client, get("/open"))->body.size(), 300'000U);
  EXPECT_EQ(disk_.checks(), 2);
}

// Takes content when the test says so, and notes how many windows each piece has.
class ControlledPeer final : public body::Framer {
 public:
  void write_content(Body&& piece) override {
    waiting_bytes_ = piece.size_bytes();
    windows.push_back(piece.size_bytes() / ColdFiles::window_bytes);
  }
  [[nodiscard]] std::uint64_t waiting_bytes() const noexcept override { return waiting_bytes_; }
  void content_ended() noexcept override {}
  void take(body::OutgoingBody& content) {
    waiting_bytes_ = 0;
    content.drained();
  }

  std::vector<std::uint64_t> windows;

 private:
  std::uint64_t waiting_bytes_ = 0;
};

TEST_P(ColdFilesTest, AreSentInLongerPartsToAFastPeer) {
  disk_.warm_up();
  const auto worker = this->worker();
  const auto file = std::make_shared<const disk::Descriptor>(
      ::open((folder_ / "large").c_str(), O_RDONLY | O_CLOEXEC));
  ControlledPeer peer;
  body::OutgoingBody sent;
  loop::Loop& loop = (**worker).loop();
  loop.post([&] {
    Body content(FileRange{file, file->number(), 0, 30 * ColdFiles::window_bytes});
    ColdFiles::prepare(content, loop);
    sent.start(peer, std::move(content), 1);
  });
  (**worker).run_once(0ms);
  for (int i = 0; i < 20 && !sent.is_made(); ++i) {
    if (peer.windows.size() == 4) worker->advance(1s);  // slow this once
    peer.take(sent);
    (**worker).run_once(0ms);
  }
  EXPECT_TRUE(sent.is_made());
  EXPECT_EQ(peer.windows, (std::vector<std::uint64_t>{2, 4, 8, 8, 1, 2, 4, 1}));
  EXPECT_EQ(disk_.checks(), 30);
}

// This machine's disk, with a count of the reads.
class CountedDisk final : public body::PageCache {
 public:
  [[nodiscard]] bool has(int file, std::uint64_t offset, std::uint64_t size_bytes,
                         std::uint32_t chance) const noexcept override {
    return system().has(file, offset, size_bytes, chance);
  }
  void read(int file, std::uint64_t offset, std::uint64_t size_bytes,
            std::uint64_t ahead_bytes) const noexcept override {
    if (std::this_thread::get_id() != loop_thread_) ++reads_;
    system().read(file, offset, size_bytes, ahead_bytes);
  }
  [[nodiscard]] int reads() const noexcept { return reads_; }

 private:
  const std::thread::id loop_thread_ = std::this_thread::get_id();
  mutable std::atomic<int> reads_{0};
};

TEST_P(ColdFilesTest, ComeFromARealDisk) {
  const CountedDisk disk;
  const auto worker = this->worker();
  ColdFiles::of((**worker).loop())->use(disk);
  Client client = worker->connect();
  // Again if the system has read them on its own before they are asked for.
  for (int tries = 0; tries < 100 && disk.reads() == 0; ++tries) {
    for (const auto& [path, bytes] : {std::pair("small", small_bytes), {"large", large_bytes}}) {
      if (!support::make_cold((folder_ / path).string())) {
        GTEST_SKIP() << "this file system cannot tell what is in memory";
      }
      for (int i = 0; i < 2; ++i) {
        const auto answer = ask(*worker, client, get("/files/" + std::string(path)));
        ASSERT_TRUE(answer);
        EXPECT_TRUE(answer->body == text_.substr(0, bytes)) << path;
      }
    }
  }
  EXPECT_GE(disk.reads(), 1);
}

INSTANTIATE_TEST_SUITE_P(Backends, ColdFilesTest, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
