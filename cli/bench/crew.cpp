// SPDX-License-Identifier: MIT
// In: a plan. Out: the merged tally of its workers.
#include "bench/crew.hpp"

#include <utility>

namespace skua::cli::bench {
namespace {

constexpr std::size_t queued_lookups = 1024;

}  // namespace

Crew::Crew(const Plan& plan, std::function<void()> on_end)
    : on_end_(std::move(on_end)), running_(plan.threads), pool_(1, queued_lookups) {
  for (std::size_t i = 0; i < plan.threads; ++i) {
    loop::LoopOptions options;
    options.backend = plan.backend;
    workers_.push_back(
        std::make_unique<Worker>(plan, i, loop::Loop::create(options).value(), pool_));
  }
  for (const auto& worker : workers_) {
    threads_.emplace_back([this, &made = *worker] {
      made.run();
      if (--running_ == 0) on_end_();
    });
  }
}

Crew::~Crew() {
  for (const auto& worker : workers_) worker->abandon();
  join();
}

void Crew::end_early() {
  for (const auto& worker : workers_) {
    if (is_ending_) {
      worker->abandon();
    } else {
      worker->end_early();
    }
  }
  is_ending_ = true;
}

std::uint64_t Crew::answers() const noexcept {
  std::uint64_t all = 0;
  for (const auto& worker : workers_) all += worker->result().answers;
  return all;
}

std::uint64_t Crew::failures() const noexcept {
  std::uint64_t all = 0;
  for (const auto& worker : workers_) all += worker->result().failures;
  return all;
}

Tally Crew::result() {
  join();
  Tally all;
  for (const auto& worker : workers_) all.merge(worker->result());
  return all;
}

void Crew::join() {
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace skua::cli::bench
