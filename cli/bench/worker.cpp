// SPDX-License-Identifier: MIT
// In: a share of a plan. Out: a tally. The thread does nothing that could delay a response: once
// its connections are open, only responses and due times drive it.
#include "bench/worker.hpp"

#include "bench/h2_speaker.hpp"

#include <time.h>

#include <algorithm>
#include <utility>

namespace skua::cli::bench {
namespace {

constexpr Duration shortest_sweep = 10ms;
constexpr Duration longest_sweep = 250ms;

Duration thread_cpu() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

Worker::Worker(const Plan& plan, std::size_t index, std::unique_ptr<loop::Loop> loop,
               loop::WorkerPool& pool)
    : plan_(plan),
      loop_(std::move(loop)),
      schedule_(share_of(plan, index)),
      resolver_(*loop_),
      connector_(*loop_, resolver_),
      block_(plan),
      skimmed_(plan.expected),
      warmup_(loop_->timers(), loop::call_member<&Worker::begin_to_count>, this),
      end_(loop_->timers(), loop::call_member<&Worker::end>, this),
      sweep_(loop_->timers(), loop::call_member<&Worker::sweep>, this) {
  loop_->use_pool(&pool);
  for (std::size_t i = share_of(plan, index).connections; i != 0; --i) {
    connections_.push_back(std::make_unique<Connection>(*this));
  }
}

std::unique_ptr<Speaker> Worker::make_speaker(AnswerSink& sink) {
  if (plan_.http2) return std::make_unique<H2Speaker>(sink, plan_);
  return std::make_unique<H1Speaker>(sink, block_, skimmed_, plan_.depth);
}

void Worker::run() {
  loop_->post([this] { begin(); });
  while (done_ != connections_.size()) {
    loop_->run_once(time_to_wait());
    if (schedule_.has_rate()) send_due();
  }
  conclude();
}

void Worker::begin() {
  ran_from_ = now();
  cpu_before_ = thread_cpu();
  if (plan_.warmup > Duration(0)) warmup_.start(plan_.warmup);
  if (!plan_.requests) end_.start(plan_.warmup + plan_.duration);
  sweep();
  for (const auto& connection : connections_) connection->open();
}

Duration Worker::time_to_wait() const noexcept {
  if (waiting_.empty() || schedule_.is_over()) return Duration(-1);
  const Duration left = std::max(schedule_.next_due() - now(), Duration(0));
  // Some back ends round up to whole milliseconds: the last one is a separate wait.
  return left < 1ms ? left : Duration(std::chrono::floor<std::chrono::milliseconds>(left));
}

void Worker::send_due() {
  const loop::Instant time = now();
  while (!waiting_.empty() && (schedule_.is_over() || schedule_.next_due() <= time)) {
    Connection& connection = waiting_.front();
    connection.unlink();
    connection.fill(time);
  }
}

void Worker::connected(bool is_reconnect) {
  ++tally_.connections;
  if (is_reconnect) ++tally_.reconnects;
  if (first_open_) return;
  first_open_ = now();
  if (!warmup_.is_running()) counted_from_ = *first_open_;
  schedule_.begin(*first_open_);
}

// If no connection can be made, there is nothing to measure.
void Worker::refused() {
  if (++refused_ == connections_.size() && !first_open_) end();
}

void Worker::answered(const Asked& asked, unsigned status, loop::Instant now) {
  tally_.count_status(status);
  tally_.latency.record(now - asked.due);
  if (schedule_.has_rate()) tally_.uncorrected.record(now - asked.sent);
  last_answer_ = now;
}

void Worker::begin_to_count() {
  tally_.begin_again();
  counted_from_ = ran_from_ = now();
  cpu_before_ = thread_cpu();
}

void Worker::end() {
  const loop::Instant time = now();
  schedule_.end(time);
  // On the first call, the load lasted until now, even without responses.
  if (!std::exchange(is_ending_, true)) last_answer_ = std::max(last_answer_, time);
  for (const auto& connection : connections_) connection->wind_up();
}

void Worker::end_early() {
  loop_->post([this] { end(); });
}

void Worker::abandon() {
  loop_->post([this] {
    end();
    for (const auto& connection : connections_) connection->abandon();
  });
}

void Worker::sweep() {
  const loop::Instant then = now() - plan_.timeout;
  for (const auto& connection : connections_) connection->check_timeout(then);
  sweep_.start(std::clamp<Duration>(plan_.timeout / 20, shortest_sweep, longest_sweep));
}

void Worker::conclude() {
  // The load ended before anything was counted.
  if (first_open_ && warmup_.is_running()) begin_to_count();
  schedule_.end(now());
  tally_.missed = schedule_.missed();
  tally_.cpu = thread_cpu() - cpu_before_;
  const Duration ran = now() - ran_from_;
  if (ran > Duration(0)) {
    tally_.busiest = static_cast<double>(tally_.cpu.count()) / static_cast<double>(ran.count());
  }
  if (first_open_) tally_.elapsed = std::max(last_answer_ - counted_from_, Duration(0));
}

}  // namespace skua::cli::bench
