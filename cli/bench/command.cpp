// SPDX-License-Identifier: MIT
// In: a URL and a load. Out: a report on stdout, progress on stderr if it is a terminal, and an
// exit code.
#include "bench/command.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "base/text/number_text.hpp"
#include "bench/crew.hpp"
#include "bench/options.hpp"
#include "bench/report.hpp"
#include "common_options.hpp"
#include "exit_code.hpp"
#include "loop/loop.hpp"
#include "loop/signal.hpp"
#include "system.hpp"
#include "terminal.hpp"

namespace skua::cli {
namespace {

constexpr Duration live_interval = 1s;

/// The progress line that a terminal shows during a load test.
class LiveLine {
 public:
  LiveLine(loop::Loop& loop, const bench::Crew& crew)
      : crew_(crew),
        loop_(loop),
        since_(loop.now()),
        timer_(loop.timers(), loop::call_member<&LiveLine::show>, this) {
    timer_.start(live_interval);
  }
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;
  ~LiveLine() { std::fputs("\r\x1b[K", stderr); }

 private:
  void show() {
    const std::uint64_t answers = crew_.answers();
    const loop::Instant now = loop_.now();
    const double time = std::chrono::duration<double>(now - since_).count();
    // The count restarts after the warm-up.
    const std::uint64_t fresh = answers >= answers_ ? answers - answers_ : answers;
    const auto errors = static_cast<unsigned long long>(crew_.failures());
    std::fprintf(stderr, "\r\x1b[K%s requests/s, %llu errors",
                 base::fixed_text(static_cast<double>(fresh) / time, 0).c_str(), errors);
    answers_ = answers;
    since_ = now;
    timer_.start(live_interval);
  }

  const bench::Crew& crew_;
  loop::Loop& loop_;
  std::uint64_t answers_ = 0;
  loop::Instant since_;
  loop::Timer timer_;
};

bench::Tally make_load(const BenchOptions& options, const bench::Plan& plan) {
  const std::unique_ptr<loop::Loop> loop = loop::Loop::create().value();
  std::unique_ptr<bench::Crew> crew;
  // Set up before any request is sent, so that an early interrupt still gets a report.
  const auto watcher =
      loop::SignalWatcher::create(*loop, {SIGINT, SIGTERM}, [&](int) { crew->end_early(); });
  crew = std::make_unique<bench::Crew>(plan, [&loop = *loop] { loop.stop(); });
  {
    const bool is_watched = !options.quiet && is_terminal(standard_error);
    const auto line = is_watched ? std::make_unique<LiveLine>(*loop, *crew) : nullptr;
    loop->run();
  }
  return crew->result();
}

void warn(const bench::Plan& plan, const bench::Tally& tally) {
  if (bench::is_saturated(tally)) {
    std::fprintf(
        stderr,
        "skua: WARNING: skua bench was the bottleneck, at %s %% of a core: the server may be "
        "faster; try %s\n",
        base::fixed_text(tally.busiest * 100, 0).c_str(),
        plan.threads < plan.connections ? "more --threads" : "more --connections");
  }
}

bool is_unreachable(const bench::Tally& tally) noexcept {
  return tally.connections == 0 && tally.failures != 0;
}

std::string missed_rate(const bench::Plan& plan, const bench::Tally& tally) {
  return "the rate was not reached: " + bench::grouped(tally.per_second(tally.answers)) + " of " +
         bench::grouped(plan.rate.value_or(0)) + " responses/s; try more --connections";
}

int conclude(const BenchOptions& options, const bench::Plan& plan, const bench::Tally& tally) {
  if (is_unreachable(tally)) {
    const auto connect = static_cast<std::size_t>(bench::Failure::Connect);
    const std::string& reason = tally.reasons[connect];
    std::fprintf(stderr, "skua: %s\n%s", harmless(reason).c_str(),
                 tls_advice(reason, options.tls).c_str());
    return exit_code_of(tally.refusal);
  }
  if (tally.answers == 0 && tally.failures == 0) {
    std::fputs("skua: no responses were counted: the test ended too early\n", stderr);
    return failed;
  }
  const std::uint64_t bad = tally.bad_statuses() + tally.other_statuses;
  const bool is_too_slow = !bench::is_rate_reached(plan, tally);
  if (is_too_slow) std::fprintf(stderr, "skua: %s\n", missed_rate(plan, tally).c_str());
  if (tally.failures == 0 && bad == 0) return is_too_slow ? failed : succeeded;
  std::string what;
  for (std::size_t i = 0; i < bench::failure_count; ++i) {
    if (tally.failed[i] == 0) continue;
    what += (what.empty() ? "" : ", ") + std::to_string(tally.failed[i]) + " " +
            std::string(name_of(static_cast<bench::Failure>(i)));
  }
  if (bad != 0) {
    what += (what.empty() ? "" : ", ") + std::to_string(bad) +
            " responses with a 4xx, 5xx or invalid status";
  }
  std::fprintf(stderr, "skua: errors: %s\n", what.c_str());
  return failed;
}

int load(const BenchOptions& options) {
  const Result<bench::Plan, Problem> plan = make_plan(options);
  if (!plan) {
    std::fprintf(stderr, "skua: %s\n", harmless(plan.error().text).c_str());
    const bool is_ours =
        plan.error().code() == Errc::TlsConfiguration || plan.error().code() == Errc::Unsupported;
    return is_ours ? failed : misunderstood;
  }
  const bench::Tally tally = make_load(options, *plan);
  if (options.json) {
    std::fputs(json_report(*plan, tally).c_str(), stdout);
  } else if (!is_unreachable(tally)) {
    std::fputs(text_report(*plan, tally).c_str(), stdout);
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fprintf(stderr, "skua: cannot write the report: %s\n", std::strerror(errno));
    return failed;
  }
  warn(*plan, tally);
  return conclude(options, *plan, tally);
}

}  // namespace

std::function<int()> configure_bench(CLI::App& parser) {
  const auto options = std::make_shared<BenchOptions>();
  declare(parser, *options);
  return [options] { return load(*options); };
}

}  // namespace skua::cli
