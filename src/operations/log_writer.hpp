// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "operations/log_file.hpp"

namespace skua::operations {

/// Writes lines to a log on a thread of its own, so that a slow disk or a stalled reader delays
/// nobody else. Lines wait in a queue of limited size; if it is full, or the file cannot be
/// written, lines are dropped and counted.
class LogWriter final {
 public:
  /// Takes a message of one line, on the writer's thread. What it throws is dropped.
  using Say = std::function<void(std::string_view)>;

  /// How much and how long to wait for a file that takes nothing.
  struct Patience {
    std::size_t queue_bytes = 16 * 1024 * 1024;  ///< lines that wait; those beyond are dropped
    std::chrono::milliseconds at_end{2000};      ///< without any progress, once the writer ends
    std::chrono::milliseconds between_messages{10'000};  ///< about lines that were dropped
  };

  LogWriter(LogFile file, Say say) : LogWriter(std::move(file), std::move(say), Patience()) {}
  LogWriter(LogFile file, Say say, Patience patience);
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;
  ~LogWriter() { end(); }

  /// Starts the thread; lines may be added before.
  void start();
  /// Adds a line, which includes its line feed. Never waits for the file. Any thread may call it.
  void add(std::string_view line) noexcept;
  /// Counts a line that could not be made.
  void lose_line() noexcept;
  /// Opens the file again, after the lines that are being written. Any thread may call it.
  void reopen();
  /// Writes what waits, prints how many lines were lost, if any, and ends the thread.
  void end();

  /// Returns how many lines were dropped so far.
  [[nodiscard]] std::uint64_t lost_count() const;

 private:
  using Time = std::chrono::steady_clock::time_point;

  void run() noexcept;
  bool turn();
  void wait_for_lines(std::unique_lock<std::mutex>& lock);
  void write(std::string_view lines);
  bool write_all(std::string_view& bytes);
  template <class Make>
  void say(const Make& make) noexcept;
  void fail(const Error& why);
  void recover();
  void lose(std::string_view lines);
  void open_again();
  void tell_drops(bool is_end);
  [[nodiscard]] bool gives_up();

  LogFile file_;
  Say say_;
  Patience patience_;
  std::thread thread_;

  mutable std::mutex mutex_;  // of the following; held for a moment only
  std::condition_variable changed_;
  std::vector<std::string> queue_;  // blocks of whole lines
  std::size_t queued_bytes_ = 0;
  std::uint64_t lost_ = 0;
  bool is_idle_ = false;  // the thread waits for the first line
  bool wants_reopen_ = false;
  bool is_ending_ = false;

  // Only the thread uses these.
  std::vector<std::string> batch_;
  std::string broken_;  // the rest of a line that was written in part
  bool is_failing_ = false;
  std::uint64_t lost_before_ = 0;  // it failed
  std::uint64_t told_ = 0;         // of the lost lines
  std::optional<Time> told_at_{};
  std::optional<Time> stalled_at_{};  // once the writer ends
};

}  // namespace skua::operations
