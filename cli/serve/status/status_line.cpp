// SPDX-License-Identifier: MIT
// In: counters, twice a second. Out: a line of printable ASCII and colours, cut to the terminal.
#include "serve/status/status_line.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "get/report.hpp"
#include "progress.hpp"
#include "terminal.hpp"

namespace skua::cli {
namespace {

constexpr std::size_t max_samples = 3;  // about a second

std::uint64_t rate(std::uint64_t count, StatusLine::Time::duration time) {
  const double seconds = std::chrono::duration<double>(time).count();
  return seconds <= 0
             ? 0
             : static_cast<std::uint64_t>(std::llround(static_cast<double>(count) / seconds));
}

// Returns `12,345`.
std::string count_text(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

/// A line that takes parts while there is room.
class Line {
 public:
  Line(std::size_t columns, bool has_colours) : room_(columns), has_colours_(has_colours) {}

  /// Appends a part after a gap, cut if it does not fit.
  void add(std::string_view part, std::string_view colour = {}) {
    const std::string_view gap = made_.width == 0 ? "" : "  ";
    if (made_.width + gap.size() >= room_) return;
    const std::size_t room = room_ - made_.width - gap.size();
    const bool is_cut = part.size() > room;
    if (is_cut) part = part.substr(0, room - 1);
    const bool is_coloured = has_colours_ && !colour.empty();
    made_.text.append(gap);
    if (is_coloured) made_.text.append(colour);
    made_.text.append(part);
    if (is_cut) made_.text.append("~");
    if (is_coloured) made_.text.append(colours::plain);
    made_.width += gap.size() + part.size() + (is_cut ? 1 : 0);
  }
  [[nodiscard]] const StatusText& made() const noexcept { return made_; }

 private:
  StatusText made_;
  std::size_t room_;
  bool has_colours_;
};

}  // namespace

void StatusLine::sample(const Counters& counters, Time now) {
  samples_.push_back({now, counters});
  if (samples_.size() > max_samples) samples_.pop_front();
}

StatusText StatusLine::text(const ResponseTally& tally, std::size_t columns) const {
  if (samples_.empty() || samples_.back().counters.connections_accepted == 0) return {};
  const Counters& now = samples_.back().counters;
  const Counters& before = samples_.front().counters;
  const auto time = samples_.back().time - samples_.front().time;
  Line line(std::max<std::size_t>(columns, 2) - 1, has_colours_);
  line.add(count_text(rate(now.responses - before.responses, time)) + " req/s", colours::cyan);
  line.add(size_text(rate(now.bytes_sent - before.bytes_sent, time)) + "/s");
  line.add(count_text(now.connections_open) + " open");
  if (tally.client_errors() > 0) {
    line.add(count_text(tally.client_errors()) + " x 4xx", colours::yellow);
  }
  if (tally.server_errors() > 0) {
    line.add(count_text(tally.server_errors()) + " x 5xx", colours::red);
  }
  if (const auto slowest = tally.slowest()) {
    line.add("slowest " + milliseconds_text(slowest->duration) + " " + slowest->text,
             colours::grey);
  }
  return line.made();
}

}  // namespace skua::cli
