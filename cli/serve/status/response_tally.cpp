// SPDX-License-Identifier: MIT
#include "serve/status/response_tally.hpp"

#include <utility>

#include "operations/log_line.hpp"

namespace skua::cli {

void ResponseTally::add(const RequestRecord& record) {
  const unsigned status = code(record.status);
  if (status >= 500) {
    server_errors_.fetch_add(1, std::memory_order_relaxed);
  } else if (status >= 400) {
    client_errors_.fetch_add(1, std::memory_order_relaxed);
  }
  const Duration::rep duration = record.duration.count();
  if (duration <= longest_.load(std::memory_order_relaxed) || record.target.empty()) return;
  SlowRequest slow{.text = std::string(operations::method_name_of(record)) + " ",
                   .duration = record.duration};
  operations::append_escaped(slow.text, record.target);
  const std::lock_guard lock(mutex_);
  if (duration <= longest_.load(std::memory_order_relaxed)) return;
  longest_.store(duration, std::memory_order_relaxed);
  periods_[0] = std::move(slow);
}

std::optional<SlowRequest> ResponseTally::slowest() const {
  const std::lock_guard lock(mutex_);
  const auto& [now, before] = periods_;
  if (!now || !before) return now ? now : before;
  return now->duration >= before->duration ? now : before;
}

void ResponseTally::next_period() {
  const std::lock_guard lock(mutex_);
  periods_[1] = std::exchange(periods_[0], std::nullopt);
  longest_.store(0, std::memory_order_relaxed);
}

}  // namespace skua::cli
