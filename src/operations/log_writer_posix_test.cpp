// SPDX-License-Identifier: MIT
// The writer of access logs: no line is torn, lost unnoticed, or waited for.
#include "operations/log_writer.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/temporary_directory.hpp"

namespace skua::operations {
namespace {

using namespace std::chrono_literals;

/// The messages of a writer.
class Said {
 public:
  LogWriter::Say say() {
    return [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      text_.append(line) += '\n';
      changed_.notify_all();
    };
  }
  /// Waits for a text; returns all messages.
  std::string until(std::string_view part) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 20s, [&] { return text_.find(part) != text_.npos; });
    return text_;
  }
  std::string all() { return until(""); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
};

class LogWriterTest : public ::testing::Test {
 protected:
  std::string path(std::string_view name) const { return (files_ / name).string(); }
  std::string text(std::string_view name) const {
    std::ifstream file(path(name));
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
  }
  LogFile open(std::string_view name) const { return LogFile::open(path(name), {}).value(); }

  support::TemporaryDirectory files_;
  Said said_;
};

TEST_F(LogWriterTest, WritesEverythingBeforeItEnds) {
  {
    LogWriter writer(open("log"), said_.say());
    writer.add("before\n");
    writer.start();
    for (int i = 0; i < 1000; ++i) writer.add(std::to_string(i) + "\n");
  }
  const std::string lines = text("log");
  EXPECT_TRUE(lines.starts_with("before\n0\n1\n")) << lines.substr(0, 100);
  EXPECT_TRUE(lines.ends_with("\n998\n999\n"));
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 1001);
  EXPECT_EQ(said_.all(), "");
}

TEST_F(LogWriterTest, AppendsToAFileThatOthersMayNotRead) {
  files_.write("old", "old\n");
  {
    LogWriter(open("old"), said_.say()).start();
  }
  {
    LogWriter writer(open("old"), said_.say());
    writer.start();
    writer.add("new\n");
  }
  EXPECT_EQ(text("old"), "old\nnew\n");
  const LogFile made = open("made");
  EXPECT_EQ(std::filesystem::status(path("made")).permissions() & std::filesystem::perms(037),
            std::filesystem::perms::none);
}

TEST_F(LogWriterTest, SaysWhyItCannotOpenAFile) {
  for (const std::string& name : {path("none/log"), path(""), files_.string()}) {
    const auto file = LogFile::open(name, {});
    ASSERT_FALSE(file) << name;
    EXPECT_TRUE(file.error().text.starts_with("cannot open " + name)) << file.error().text;
  }
}

TEST_F(LogWriterTest, EachLineIsInOneOfTheFilesWhileTheyAreRotated) {
  constexpr int threads = 4;
  constexpr int lines = 5000;
  std::vector<std::string> names = {"log"};
  {
    LogWriter writer(open("log"), said_.say());
    writer.start();
    std::vector<std::thread> writers;
    for (int thread = 0; thread < threads; ++thread) {
      writers.emplace_back([&writer, thread] {
        for (int i = 0; i < lines; ++i) {
          writer.add(std::to_string(thread) + "-" + std::to_string(i) + "\n");
        }
      });
    }
    for (int i = 0; i < 20; ++i) {
      names.push_back("log." + std::to_string(i));
      std::error_code failed;  // if the last request to reopen is not done yet
      std::filesystem::rename(path("log"), path(names.back()), failed);
      writer.reopen();
    }
    for (std::thread& thread : writers) thread.join();
  }
  std::map<std::string, int> counts;
  for (const std::string& name : names) {
    std::ifstream file(path(name));
    for (std::string line; std::getline(file, line);) ++counts[line];
  }
  EXPECT_EQ(counts.size(), std::size_t{threads} * lines);
  for (const auto& [line, count] : counts) ASSERT_EQ(count, 1) << line;
  EXPECT_EQ(said_.all(), "");
}

TEST_F(LogWriterTest, KeepsTheOldFileIfThereIsNoNewOne) {
  files_.make("logs");
  LogWriter writer(open("logs/log"), said_.say());
  writer.start();
  std::filesystem::rename(path("logs/log"), path("moved"));
  std::filesystem::remove(path("logs"));
  writer.reopen();
  EXPECT_NE(said_.until("old file\n").find("again: No such file"), std::string::npos);
  writer.add("line\n");
  writer.end();
  EXPECT_EQ(text("moved"), "line\n");
}

TEST_F(LogWriterTest, AFullDiskIsToldOnce) {
  LogWriter writer(LogFile::open("/dev/full", {}).value(), said_.say());
  writer.start();
  writer.add("one\n");
  said_.until("No space left");
  for (int i = 0; i < 100; ++i) writer.add("more\n");
  writer.end();
  EXPECT_EQ(said_.all(),
            "cannot write to the access log (/dev/full): No space left on device; dropping "
            "its lines\n"
            "101 lines were lost: the access log (/dev/full) is incomplete\n");
}

// A pipe whose reader may stall.
class PipeLog : public LogWriterTest {
 protected:
  PipeLog() {
    std::signal(SIGPIPE, SIG_DFL);  // which would end the process
    ::mkfifo(path("pipe").c_str(), 0600);
    reader_ = ::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  }
  ~PipeLog() override { close_reader(); }
  void close_reader() {
    if (reader_ >= 0) ::close(reader_);
    reader_ = -1;
  }
  std::string read_all() const {
    std::string all;
    std::array<char, 65'536> buffer;
    for (ssize_t count = 0; (count = ::read(reader_, buffer.data(), buffer.size())) > 0;) {
      all.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return all;
  }

  int reader_ = -1;
};

constexpr LogWriter::Patience short_patience{
    .queue_bytes = 200'000, .at_end = 50ms, .between_messages = 1ms};

TEST_F(PipeLog, DropsWholeLinesIfNobodyReads) {
  LogWriter writer(open("pipe"), said_.say(), short_patience);
  writer.start();
  const std::string line = std::string(999, 'x') + "\n";
  std::uint64_t added = 0;
  for (; writer.lost_count() == 0; ++added) writer.add(line);
  EXPECT_NE(said_.until("cannot keep up").find("lost so far\n"), std::string::npos);
  writer.end();
  EXPECT_NE(said_.all().find(" is incomplete\n"), std::string::npos);
  const std::string all = read_all();
  EXPECT_EQ(all.size() % line.size(), 0u);
  EXPECT_EQ(all.size() / line.size() + writer.lost_count(), added);
}

TEST_F(PipeLog, GoesOnAfterAStall) {
  LogWriter::Patience patience = short_patience;
  patience.at_end = 20s;
  LogWriter writer(open("pipe"), said_.say(), patience);
  writer.start();
  for (int i = 0; i < 150; ++i) writer.add(std::string(999, 'x') + "\n");  // more than a pipe holds
  std::thread ending([&] { writer.end(); });
  std::string all;
  const auto until = std::chrono::steady_clock::now() + 40s;
  while (all.size() < 150'000 && std::chrono::steady_clock::now() < until) all += read_all();
  ending.join();
  EXPECT_EQ(all.size(), 150'000u);
  EXPECT_EQ(said_.all(), "");
}

TEST_F(PipeLog, AReaderThatLeavesIsToldOnce) {
  LogWriter writer(open("pipe"), said_.say(), short_patience);
  writer.start();
  close_reader();
  writer.add("one\n");
  said_.until("Broken pipe");
  writer.add("two\n");
  reader_ = ::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  for (int i = 0; i < 3; ++i) writer.add("three\n");
  writer.end();
  const std::string said = said_.all();
  EXPECT_EQ(said.find("Broken pipe"), said.rfind("Broken pipe")) << said;
}

// Only standard output can be a socket.
LogFile log_to(int socket) {
  const int before = ::dup(STDOUT_FILENO);
  ::dup2(socket, STDOUT_FILENO);
  LogFile file = LogFile::open("-", {}).value();
  ::dup2(before, STDOUT_FILENO);
  ::close(before);
  return file;
}

TEST(LogFile, ASocketWhosePeerHasLeftIsAnError) {
  std::signal(SIGPIPE, SIG_DFL);  // which would end the process
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  LogFile file = log_to(ends[0]);
  ::close(ends[0]);
  ::close(ends[1]);
  const auto written = file.write_some("line\n", 0ms);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().system_code(), EPIPE);
}

// Returns the limit of before.
rlimit limit_file_size(rlim_t size_bytes) {
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit before = limit;
  limit.rlim_cur = size_bytes;
  ::setrlimit(RLIMIT_FSIZE, &limit);
  return before;
}

TEST_F(LogWriterTest, NoLineIsTornIfTheFileFailsWithinOne) {
  std::signal(SIGXFSZ, SIG_DFL);  // which would end the process
  const rlimit before = limit_file_size(2500);
  LogWriter writer(open("file"), said_.say(), short_patience);
  writer.start();
  const std::string line = std::string(999, 'x') + "\n";
  for (int i = 0; i < 5; ++i) writer.add(line);
  said_.until("too large");
  limit_file_size(before.rlim_cur);
  writer.add("last\n");
  writer.end();
  EXPECT_EQ(text("file"), line + line + line + "last\n") << said_.all();
  EXPECT_EQ(writer.lost_count(), 2u);
}

}  // namespace
}  // namespace skua::operations
