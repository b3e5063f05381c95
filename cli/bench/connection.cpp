// SPDX-License-Identifier: MIT
// Fresh -> Connecting -> Open -> Closing -> Connecting ... -> Done; after a failed attempt,
// Connecting -> Pausing -> Connecting. The speaker interprets the bytes; the worker's schedule
// decides when a request is sent.
#include "bench/connection.hpp"

#include <algorithm>
#include <utility>

#include "bench/worker.hpp"
#include "net/close_detached.hpp"

namespace skua::cli::bench {
namespace {

constexpr Duration first_pause = 10ms;
constexpr unsigned max_doublings = 7;  // 1.28 s
// Without this, a load with a fixed number of requests would never end if the server is gone.
constexpr unsigned max_refusals = 5;
// A connection attempt that takes longer counts as a failure even if the test ends first.
constexpr Duration patience = 1s;

}  // namespace

Connection::Connection(Worker& worker)
    : worker_(worker),
      speaker_(worker.make_speaker(*this)),
      pause_(worker.loop().timers(), loop::call_member<&Connection::open>, this) {}

void Connection::open() {
  state_ = State::Connecting;
  opened_ = worker_.now();
  opening_.emplace(connect());
  opening_->start([](void*) noexcept {}, nullptr);
}

Task<> Connection::connect() {
  const Plan& plan = worker_.plan();
  auto made = co_await worker_.connector().connect(plan.origin, plan.connect);
  const bool is_wrong = made && plan.http2 && plan.origin.is_secure && (*made)->protocol() != "h2";
  if (is_wrong) {
    net::close_detached(*std::move(made));
    refused(Errc::UnsupportedVersion, "the server does not offer HTTP/2");
  } else if (made) {
    begin(*std::move(made));
  } else {
    refused(made.error().code(), made.error().text);
  }
}

void Connection::begin(std::unique_ptr<net::Stream> stream) {
  state_ = State::Open;
  send_failure_.reset();
  pump_ = std::make_unique<net::StreamPump>(static_cast<net::StreamPumpUser&>(*this),
                                            worker_.loop(), worker_.blocks());
  pump_->take(std::move(stream));
  pump_->set_receiving(true);
  refusals_ = 0;
  worker_.connected(std::exchange(was_open_, true));
  const loop::Instant now = worker_.now();
  speaker_->begin(pump_->output(), now);
  fill(now);
}

void Connection::refused(Errc code, const std::string& why) {
  const loop::Instant now = worker_.now();
  state_ = State::Pausing;
  worker_.tally().count_refusal(code, why);
  worker_.schedule().take(now);  // the request that it would have sent
  const bool is_last = worker_.plan().requests && refusals_ + 1 >= max_refusals;
  if (worker_.schedule().is_over() || is_last) return finish();
  pause_.start(first_pause * (1U << std::min(refusals_, max_doublings)));
  if (refusals_++ == 0 && !was_open_) worker_.refused();
}

// Requests
// -----------------------------------------------------------------------------------------

void Connection::fill(loop::Instant now) {
  if (state_ != State::Open) return;
  Schedule& schedule = worker_.schedule();
  std::size_t room = speaker_->room();
  // Overdue requests are spread over all connections, not taken by the first one.
  if (schedule.has_rate()) room = std::min<std::size_t>(room, 1);
  for (; room != 0; --room) {
    const std::optional<loop::Instant> due = schedule.take(now);
    if (!due) break;
    speaker_->ask({*due, now});
  }
  flush();
  if (schedule.is_over()) {
    if (speaker_->under_way() == 0) close();
  } else if (schedule.has_rate() && speaker_->room() != 0 && !is_linked()) {
    worker_.wait_for_due(*this);
  }
}

void Connection::flush() {
  pump_->flush_while([this] { return speaker_->write(pump_->output()); });
}

void Connection::on_sent(std::uint64_t count) {
  worker_.tally().bytes_sent += count;
  speaker_->sent(count);
}

// Answers
// ------------------------------------------------------------------------------------------

void Connection::on_receive(std::span<char> bytes) {
  const loop::Instant now = worker_.now();
  worker_.tally().bytes_received += bytes.size();
  conclude(speaker_->read({bytes.data(), bytes.size()}, now), now);
}

void Connection::on_receive_end(Error error) {
  if (error.code() != Errc::None && speaker_->under_way() != 0) {
    return fail(send_failure_ ? Failure::Write : Failure::Read,
                send_failure_.value_or(error).message());
  }
  const Verdict verdict = speaker_->end_of_input(worker_.now());
  if (verdict == Verdict::Broken) return fail(Failure::Read, speaker_->problem());
  close();
}

void Connection::conclude(Verdict verdict, loop::Instant now) {
  switch (verdict) {
    case Verdict::GoOn: return fill(now);
    case Verdict::Over: return close();
    case Verdict::Broken: return fail(Failure::Malformed, speaker_->problem());
  }
}

void Connection::on_answer(const Asked& asked, unsigned status, loop::Instant now) {
  worker_.answered(asked, status, now);
}

void Connection::on_unseen(const Asked& asked) { worker_.schedule().give_back(asked.due); }

void Connection::on_failure(const Asked& /*asked*/, const Error& error) {
  worker_.tally().count_failure(Failure::Read, error.message());
}

void Connection::check_timeout(loop::Instant then) {
  if (state_ != State::Open || speaker_->under_way() == 0 || speaker_->oldest() > then) return;
  fail(Failure::Timeout, "no response within the time limit");
}

// The end
// ------------------------------------------------------------------------------------------

void Connection::fail(Failure kind, const std::string& why) {
  if (speaker_->under_way() == 0) worker_.tally().count_failure(kind, why);
  while (speaker_->give_up()) worker_.tally().count_failure(kind, why);
  close();
}

void Connection::close() {
  state_ = State::Closing;
  unlink();
  pump_->close();
}

void Connection::on_out_of_memory() noexcept { fail(Failure::Read, "out of memory"); }

void Connection::on_closed() {
  pump_.reset();
  if (worker_.schedule().is_over()) return finish();
  open();
}

void Connection::wind_up() {
  switch (state_) {
    case State::Connecting:
      if (never_opens()) {
        worker_.tally().count_refusal(Errc::TimedOut, "no connection before the test ended");
      }
      opening_.reset();
      return finish();
    case State::Pausing: return finish();
    case State::Open: return fill(worker_.now());
    case State::Fresh:
    case State::Closing:
    case State::Done: return;
  }
}

// A server that never answers must be distinguishable from one that was never asked.
bool Connection::never_opens() const noexcept {
  return !was_open_ && (!worker_.has_connections() || worker_.now() - opened_ >= patience);
}

void Connection::abandon() {
  wind_up();
  if (state_ == State::Open) fail(Failure::Timeout, "interrupted");
}

void Connection::finish() {
  pause_.stop();
  state_ = State::Done;
  worker_.connection_done();
}

}  // namespace skua::cli::bench
