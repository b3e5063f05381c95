// SPDX-License-Identifier: MIT
// In: lines, from any thread. Out: the same lines, in blocks, on a thread that alone waits for the
// file. Threads meet in a queue of blocks: adding a line copies it, and taking all is a swap.
//
// A line is either written whole or dropped whole. If the file fails within one, such as when the
// disk becomes full, its rest is written first once that works again.
#include "operations/log_writer.hpp"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "async/guarded.hpp"
#include "loop/clock.hpp"

namespace skua::operations {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t block_bytes = 64 * 1024;
// Under load, lines are collected for this long: fewer system calls, also for those who add lines.
constexpr auto collecting_time = 5ms;
constexpr auto asking_interval = 100ms;  // of a file that takes nothing

std::uint64_t lines_in(std::string_view text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string lines_text(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " line was" : " lines were");
}

}  // namespace

LogWriter::LogWriter(LogFile file, Say say, Patience patience)
    : file_(std::move(file)), say_(std::move(say)), patience_(patience) {}

void LogWriter::start() {
  thread_ = std::thread([this] { run(); });
}

void LogWriter::add(std::string_view line) noexcept {
  const std::lock_guard lock(mutex_);
  if (line.size() > patience_.queue_bytes - queued_bytes_) {
    ++lost_;
    return;
  }
  try {
    if (queue_.empty() || line.size() > queue_.back().capacity() - queue_.back().size()) {
      std::string block;
      block.reserve(std::max(block_bytes, line.size()));
      queue_.push_back(std::move(block));
    }
    queue_.back() += line;
  } catch (const std::bad_alloc&) {
    ++lost_;
    return;
  }
  queued_bytes_ += line.size();
  if (std::exchange(is_idle_, false)) changed_.notify_one();
}

void LogWriter::lose_line() noexcept {
  const std::lock_guard lock(mutex_);
  ++lost_;
}

void LogWriter::reopen() {
  const std::lock_guard lock(mutex_);
  wants_reopen_ = true;
  changed_.notify_one();
}

void LogWriter::end() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    changed_.notify_one();
  }
  thread_.join();
}

std::uint64_t LogWriter::lost_count() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

// A message that cannot be made, or that nobody takes, must not cost the lines of a batch.
template <class Make>
void LogWriter::say(const Make& make) noexcept {
  async::guarded([&] { say_(make()); });
}

void LogWriter::run() noexcept {
  LogFile::block_signals();
  bool goes_on = true;
  while (goes_on) {
    try {
      goes_on = turn();
    } catch (...) {  // NOLINT(bugprone-empty-catch): memory ran out for a message
    }
  }
  try {
    tell_drops(true);
  } catch (...) {  // NOLINT(bugprone-empty-catch): likewise
  }
}

// Writes what is queued. Returns false if that was the last of it.
bool LogWriter::turn() {
  bool is_last = false;
  bool reopens = false;
  {
    std::unique_lock lock(mutex_);
    wait_for_lines(lock);
    is_last = is_ending_;
    reopens = std::exchange(wants_reopen_, false);
    batch_.swap(queue_);
    queued_bytes_ = 0;
  }
  // Lines of before the request to reopen belong into the old file, those after it into either.
  for (const std::string& block : batch_) write(block);
  batch_.clear();
  if (reopens) open_again();
  tell_drops(false);
  return !is_last;
}

void LogWriter::wait_for_lines(std::unique_lock<std::mutex>& lock) {
  const auto is_needed = [this] { return is_ending_ || wants_reopen_; };
  changed_.wait_for(lock, collecting_time,
                    [&] { return is_needed() || queued_bytes_ >= patience_.queue_bytes / 4; });
  if (!queue_.empty() || is_needed()) return;
  is_idle_ = true;
  changed_.wait(lock, [&] { return !queue_.empty() || is_needed(); });
  is_idle_ = false;
}

void LogWriter::write(std::string_view lines) {
  std::string_view rest = broken_;
  const bool is_whole = write_all(rest);
  broken_.erase(0, broken_.size() - rest.size());
  if (!is_whole) return lose(lines);
  rest = lines;
  if (write_all(rest)) return;
  const std::size_t begin = lines.size() - rest.size();
  if (begin != 0 && lines[begin - 1] != '\n') {
    broken_ = rest.substr(0, rest.find('\n') + 1);
    rest.remove_prefix(broken_.size());
  }
  lose(rest);
}

// Removes what was written from `bytes`. Returns false if the rest has to be dropped.
bool LogWriter::write_all(std::string_view& bytes) {
  while (!bytes.empty()) {
    const auto count = file_.write_some(bytes, asking_interval);
    if (!count) {
      fail(count.error());
      return false;
    }
    bytes.remove_prefix(*count);
    if (*count != 0) {
      stalled_at_.reset();
      recover();
    } else {
      tell_drops(false);
      if (gives_up()) return false;
    }
  }
  return true;
}

bool LogWriter::gives_up() {
  {
    const std::lock_guard lock(mutex_);
    if (!is_ending_) return false;
  }
  const Time now = std::chrono::steady_clock::now();
  if (!stalled_at_) stalled_at_ = now;
  return now >= later(*stalled_at_, Time::duration(patience_.at_end));
}

void LogWriter::lose(std::string_view lines) {
  const std::lock_guard lock(mutex_);
  lost_ += lines_in(lines);
}

// Reported once, not per line: a full disk or closed pipe tends to stay that way.
void LogWriter::fail(const Error& why) {
  if (std::exchange(is_failing_, true)) return;
  lost_before_ = lost_count();
  say([&] {
    return "cannot write to the access log (" + file_.name() +
           "): " + std::generic_category().message(why.system_code()) + "; dropping its lines";
  });
}

void LogWriter::recover() {
  if (!std::exchange(is_failing_, false)) return;
  told_ = lost_count();
  say([&] {
    return "the access log (" + file_.name() + ") is writable again; " +
           lines_text(told_ - lost_before_) + " lost";
  });
}

void LogWriter::open_again() {
  const auto opened = file_.reopen();
  if (opened) {
    broken_.clear();  // its beginning is in the old file
    return;
  }
  say([&] {
    return "cannot open the access log (" + file_.name() +
           ") again: " + std::generic_category().message(opened.error().system_code()) +
           "; its lines still go to the old file";
  });
}

void LogWriter::tell_drops(bool is_end) {
  const std::uint64_t lost = lost_count();
  if (is_end) {
    if (lost == 0) return;
    say([&] {
      return lines_text(lost) + " lost: the access log (" + file_.name() + ") is incomplete";
    });
    return;
  }
  if (lost == told_ || is_failing_) return;
  const Time now = std::chrono::steady_clock::now();
  if (told_at_ && now < later(*told_at_, Time::duration(patience_.between_messages))) return;
  told_ = lost;
  told_at_ = now;
  say([&] {
    return "the access log (" + file_.name() + ") cannot keep up; " + lines_text(lost) +
           " lost so far";
  });
}

}  // namespace skua::operations
