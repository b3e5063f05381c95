// SPDX-License-Identifier: MIT
#include "serve/status/status_display.hpp"

#include <chrono>
#include <cstdlib>
#include <string_view>

#include "loop/clock.hpp"
#include "serve/status/status_line.hpp"
#include "system.hpp"
#include "terminal.hpp"

namespace skua::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto drawing_interval = 500ms;
constexpr auto tally_period = 5s;

}  // namespace

bool can_show_status() {
  const char* const kind = std::getenv("TERM");
  const bool is_dumb = kind != nullptr && std::string_view(kind) == "dumb";
  return !is_dumb && is_terminal(standard_error);
}

StatusDisplay::StatusDisplay(const Server& server, ResponseTally& tally, Console& console)
    : server_(server),
      tally_(tally),
      console_(console),
      has_colours_(wants_colour(Colour::Auto, standard_error)),
      thread_([this] { run(); }) {}

StatusDisplay::~StatusDisplay() {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    changed_.notify_one();
  }
  thread_.join();
  console_.clear();
}

// Returns false at the end.
bool StatusDisplay::wait() {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, drawing_interval, [this] { return has_ended_; });
}

void StatusDisplay::run() noexcept {
  try {
    StatusLine line(has_colours_);
    auto period_end =
        later(std::chrono::steady_clock::now(), StatusLine::Time::duration(tally_period));
    while (wait()) {
      const auto now = std::chrono::steady_clock::now();
      line.sample(server_.counters(), now);
      if (now >= period_end) {
        tally_.next_period();
        period_end = later(now, StatusLine::Time::duration(tally_period));
      }
      if (!is_in_foreground(standard_error)) continue;
      const StatusText made = line.text(tally_, terminal_columns(standard_error));
      if (made.width > 0) console_.show(made.text, made.width);
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): memory ran out; the server needs no status
  }
}

}  // namespace skua::cli
