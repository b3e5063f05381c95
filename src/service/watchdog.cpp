// SPDX-License-Identifier: MIT
// In: servers. Out: calls, while all their threads make progress. A thread of the watchdog posts a
// task to each of them, and calls once the last has run; no server's thread ever waits.
#include "service/watchdog.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

namespace skua::service {

struct Watchdog::Round {
  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by mutex.
  bool is_over = false;
  std::uint64_t number = 0;
  std::vector<std::size_t> missing{};  // threads of each server that have not run the task

  [[nodiscard]] bool is_complete() const {
    return std::ranges::all_of(missing, [](std::size_t count) { return count == 0; });
  }
  void answer(std::uint64_t asked, std::size_t server) {
    const std::lock_guard lock(mutex);
    if (asked != number || missing[server] == 0) return;
    --missing[server];
    changed.notify_all();
  }
};

Watchdog::Watchdog(std::vector<Server*> servers, Duration interval, std::function<void()> tell)
    : servers_(std::move(servers)),
      interval_(interval),
      tell_(std::move(tell)),
      round_(std::make_shared<Round>()),
      thread_([this] { run(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(round_->mutex);
    round_->is_over = true;
    round_->changed.notify_all();
  }
  thread_.join();
}

void Watchdog::run() {
  Round& round = *round_;
  std::unique_lock lock(round.mutex);
  while (!round.is_over) {
    ask();
    while (!round.is_over && !round.is_complete()) {
      round.changed.wait_for(lock, interval_);
      for (std::size_t i = 0; i < servers_.size(); ++i) {
        const ServerState state = servers_[i]->state();  // threads that have ended answer nothing
        if (state != ServerState::Running && state != ServerState::Leaving) round.missing[i] = 0;
      }
    }
    if (round.is_over) return;
    lock.unlock();
    tell_();
    lock.lock();
    round.changed.wait_for(lock, interval_, [&round] { return round.is_over; });
  }
}

// The lock is held, so that no answer comes before they are counted.
void Watchdog::ask() {
  ++round_->number;
  round_->missing.assign(servers_.size(), 0);
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    const auto answer = [round = round_, asked = round_->number, i] { round->answer(asked, i); };
    round_->missing[i] = servers_[i]->on_each_thread(answer);
  }
}

}  // namespace skua::service
