// SPDX-License-Identifier: MIT
// In: checks, which may take any time. Out: their results within that of their timeouts. Each has a
// thread while it runs, so that one that stalls holds up neither the others nor calls of offload();
// those who ask meanwhile share it.
#include "skua/health.hpp"

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "async/guarded.hpp"
#include "loop/clock.hpp"
#include "skua/server.hpp"

namespace skua {
namespace {

std::string problem_of(const Health::Check& check) {
  try {
    const Result<void, Problem> outcome = check();
    if (outcome) return {};
    return outcome.error().text.empty() ? "failed" : outcome.error().text;
  } catch (const std::exception& error) {
    return *error.what() == '\0' ? "failed" : error.what();
  } catch (...) {
    return "failed";
  }
}

std::string_view problem_of(ServerState state) noexcept {
  switch (state) {
    case ServerState::New: return "not started";
    case ServerState::Running: return "";
    case ServerState::Leaving:
    case ServerState::Draining: return "draining";
    case ServerState::Ended: return "ended";
  }
  return "";
}

/// A check, and the thread on which it runs.
class RunningCheck {
 public:
  RunningCheck(std::string name, Health::Check check, Duration timeout)
      : name_(std::move(name)), check_(std::move(check)), timeout_(timeout) {}

  /// Begins the check, unless it runs. Returns the number of its run.
  static std::uint64_t begin(const std::shared_ptr<RunningCheck>& self) {
    RunningCheck& check = *self;
    const std::lock_guard lock(check.mutex_);
    if (check.begun_ != check.ended_) return check.begun_;
    if (check.thread_.joinable()) check.thread_.join();  // it has ended
    check.deadline_ = later(std::chrono::steady_clock::now(), check.timeout_);
    ++check.begun_;
    try {
      check.thread_ = std::thread([self] { self->call(); });
    } catch (const std::system_error&) {
      check.problem_ = "no thread could be started";
      check.ended_ = check.begun_;
    }
    return check.begun_;
  }
  /// Waits until that run ends, or its time is up.
  Health::Outcome outcome(std::uint64_t run) {
    std::unique_lock lock(mutex_);
    wait(lock, run);
    if (ended_ >= run) return {name_, problem_};
    const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(timeout_);
    return {name_, "no result within " + std::to_string(limit.count()) + " ms"};
  }
  /// Waits likewise for the last run, and leaves it behind if it goes on.
  void leave() {
    std::unique_lock lock(mutex_);
    if (!thread_.joinable()) return;
    wait(lock, begun_);
    const bool has_ended = ended_ == begun_;
    lock.unlock();
    if (has_ended) {
      thread_.join();
    } else {
      thread_.detach();
    }
  }

 private:
  void call() {
    std::string problem = problem_of(check_);
    const std::lock_guard lock(mutex_);
    problem_ = std::move(problem);
    ++ended_;
    changed_.notify_all();
  }
  void wait(std::unique_lock<std::mutex>& lock, std::uint64_t run) {
    const auto has_ended = [this, run] { return ended_ >= run; };
    if (deadline_ == std::chrono::steady_clock::time_point::max()) {
      changed_.wait(lock, has_ended);
    } else {
      changed_.wait_until(lock, deadline_, has_ended);
    }
  }

  const std::string name_;
  const Health::Check check_;
  const Duration timeout_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t begun_ = 0;  // runs; guarded by mutex_, like all that follows
  std::uint64_t ended_ = 0;
  std::chrono::steady_clock::time_point deadline_{};  // of the last run
  std::string problem_;                               // what it has found
  std::thread thread_;
};

}  // namespace

struct Health::State {
  /// Runs the checks for those who wait, as long as there are any.
  void serve() noexcept;
  /// Ends serve() if nobody waits.
  bool ends() noexcept;
  [[nodiscard]] std::vector<Outcome> run();

  std::mutex mutex;
  std::vector<std::shared_ptr<RunningCheck>> checks;  // guarded by mutex, like all that follows
  std::vector<const Server*> servers;
  std::vector<Done> waiting;
  std::thread runner;
  bool is_serving = false;  // runner is
};

Health::Health() : state_(std::make_unique<State>()) {}

Health::~Health() {
  if (state_->runner.joinable()) state_->runner.join();
  for (const auto& check : state_->checks) check->leave();
}

void Health::watch(const Server& server) {
  const std::lock_guard lock(state_->mutex);
  state_->servers.push_back(&server);
}

void Health::check(std::string name, Check check, Duration timeout) {
  auto added = std::make_shared<RunningCheck>(std::move(name), std::move(check), timeout);
  const std::lock_guard lock(state_->mutex);
  state_->checks.push_back(std::move(added));
}

std::vector<Health::Outcome> Health::run() const { return state_->run(); }

std::vector<Health::Outcome> Health::State::run() {
  std::vector<std::shared_ptr<RunningCheck>> begun;
  std::vector<Outcome> outcomes;
  {
    const std::lock_guard lock(mutex);
    begun = checks;
    for (const Server* const watched : servers) {
      outcomes.push_back({"server", std::string(problem_of(watched->state()))});
    }
  }
  std::vector<std::uint64_t> runs;
  runs.reserve(begun.size());
  for (const auto& check : begun) runs.push_back(RunningCheck::begin(check));
  for (std::size_t i = 0; i < begun.size(); ++i) outcomes.push_back(begun[i]->outcome(runs[i]));
  return outcomes;
}

void Health::run(Done done) const {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (!state.is_serving) {
    if (state.runner.joinable()) state.runner.join();  // it has ended
    state.runner = std::thread([&state] { state.serve(); });
    state.is_serving = true;
  }
  state.waiting.push_back(std::move(done));
}

void Health::State::serve() noexcept {
  do {
    std::vector<Outcome> outcomes;
    async::guarded([&] { outcomes = run(); },
                   [&](std::string_view why) { outcomes.push_back({"checks", std::string(why)}); });
    std::vector<Done> answered;
    {
      const std::lock_guard lock(mutex);
      answered.swap(waiting);
    }
    for (const Done& done : answered) async::guarded([&] { done(outcomes); });
  } while (!ends());
}

bool Health::State::ends() noexcept {
  const std::lock_guard lock(mutex);
  is_serving = !waiting.empty();
  return !is_serving;
}

}  // namespace skua
