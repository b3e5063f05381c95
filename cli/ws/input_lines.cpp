// SPDX-License-Identifier: MIT
// A thread reads one block at a time, posts its lines to the loop, and continues when all of them
// have been taken. A pair of sockets wakes the thread to stop it.
#include "ws/input_lines.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <deque>
#include <semaphore>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/disk.hpp"
#include "loop/sockets.hpp"
#include "net/socket.hpp"
#include "skua/waiter.hpp"
#include "system.hpp"

namespace skua::cli {

struct InputLines::Shared {
  explicit Shared(std::shared_ptr<loop::Mailbox> loops) : mailbox(std::move(loops)) {
    std::array<int, 2> ends{};
    if (bsd::pair(ends) != 0) throw std::runtime_error("no file descriptor left");
    wake_read = Socket(ends[0]);
    wake_write = Socket(ends[1]);
  }

  const std::shared_ptr<loop::Mailbox> mailbox;
  Socket wake_read;
  Socket wake_write;
  std::counting_semaphore<2> taken{0};  // released by the loop and by the destructor
  // Used only by the loop's thread:
  std::deque<std::string> lines;
  skua::detail::WaiterList arrived;
  bool has_ended = false;
  bool is_too_long = false;
};

InputLines::InputLines(loop::Loop& loop)
    : shared_(std::make_shared<Shared>(loop.mailbox())),
      thread_([shared = shared_] { read_all(shared); }) {}

InputLines::~InputLines() {
  shared_->wake_write.close();  // hangs up
  shared_->taken.release();
  thread_.join();
}

Task<std::optional<std::string>> InputLines::next() {
  const std::shared_ptr<Shared> shared = shared_;
  while (shared->lines.empty() && !shared->has_ended) co_await shared->arrived.wait();
  if (shared->lines.empty()) {
    if (shared->is_too_long) throw std::runtime_error("an input line is longer than 64 MiB");
    co_return std::nullopt;
  }
  std::optional<std::string> line(std::move(shared->lines.front()));
  shared->lines.pop_front();
  if (shared->lines.empty() && !shared->has_ended) shared->taken.release();
  co_return std::move(line);
}

void InputLines::read_all(const std::shared_ptr<Shared>& shared) {
  std::vector<char> buffer(64U * 1024U);
  std::string rest;
  bool goes_on = true;
  while (goes_on) {
    if (!wait_for_input(std::chrono::milliseconds(-1), shared->wake_read.descriptor())) return;
    const auto count = disk::read(standard_input, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    goes_on = count > 0;
    std::deque<std::string> lines;
    std::size_t looked_at = rest.size();
    if (count > 0) rest.append(buffer.data(), static_cast<std::size_t>(count));
    std::size_t begin = 0;
    for (std::size_t end = rest.find('\n', looked_at); end != rest.npos;
         end = rest.find('\n', looked_at)) {
      lines.push_back(rest.substr(begin, end - begin));
      if (lines.back().ends_with('\r')) lines.back().pop_back();
      begin = looked_at = end + 1;
    }
    rest.erase(0, begin);
    const bool is_too_long = rest.size() > longest_line_bytes;
    if (!goes_on && !rest.empty()) lines.push_back(rest);
    goes_on = goes_on && !is_too_long;
    if (lines.empty() && goes_on) continue;
    const bool has_lines = !lines.empty();
    shared->mailbox->post([shared, goes_on, is_too_long, lines = std::move(lines)]() mutable {
      shared->lines = std::move(lines);
      shared->has_ended = !goes_on;
      shared->is_too_long = is_too_long;
      shared->arrived.wake_all();
    });
    if (goes_on && has_lines) shared->taken.acquire();
  }
}

}  // namespace skua::cli
