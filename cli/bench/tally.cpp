// SPDX-License-Identifier: MIT
// In: responses and failures. Out: sums.
#include "bench/tally.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace skua::cli::bench {

std::string_view name_of(Failure failure) noexcept {
  switch (failure) {
    case Failure::Connect: return "connect";
    case Failure::Read: return "read";
    case Failure::Write: return "write";
    case Failure::Timeout: return "timeout";
    case Failure::Malformed: break;
  }
  return "malformed";
}

void Tally::count_status(unsigned status) noexcept {
  ++answers;
  if (status >= 100 && status <= 599) {
    ++codes[status - 100];
  } else {
    ++other_statuses;
  }
}

void Tally::count_failure(Failure kind, std::string_view reason) {
  const auto index = static_cast<std::size_t>(kind);
  ++failures;
  if (failed[index]++ == 0) reasons[index] = reason;
}

void Tally::count_refusal(Errc code, std::string_view reason) {
  if (refusal == Errc::None) refusal = code;
  count_failure(Failure::Connect, reason);
}

void Tally::merge(const Tally& other) {
  answers += other.answers;
  failures += other.failures;
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] += other.codes[i];
  for (std::size_t i = 0; i < failure_count; ++i) {
    failed[i] += other.failed[i];
    if (reasons[i].empty()) reasons[i] = other.reasons[i];
  }
  if (refusal == Errc::None) refusal = other.refusal;
  other_statuses += other.other_statuses;
  bytes_received += other.bytes_received;
  bytes_sent += other.bytes_sent;
  connections += other.connections;
  reconnects += other.reconnects;
  missed += other.missed;
  warmup_answers += other.warmup_answers;
  latency.merge(other.latency);
  uncorrected.merge(other.uncorrected);
  elapsed = std::max(elapsed, other.elapsed);
  cpu += other.cpu;
  busiest = std::max(busiest, other.busiest);
}

std::uint64_t Tally::of_class(std::size_t hundreds) const noexcept {
  const auto* const begin = codes.data() + (hundreds - 1) * 100;
  return std::accumulate(begin, begin + 100, std::uint64_t{0});
}

double Tally::per_second(std::uint64_t count) const noexcept {
  const double time = std::chrono::duration<double>(elapsed).count();
  return time > 0 ? static_cast<double>(count) / time : 0;
}

void Tally::begin_again() {
  const std::uint64_t made = connections;
  const std::uint64_t before = answers;
  *this = Tally();
  connections = made;
  warmup_answers = before;
}

}  // namespace skua::cli::bench
