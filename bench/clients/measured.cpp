// SPDX-License-Identifier: MIT
//
// In: completed requests. Out: the line of JSON that bench/client reads.
// The idea: wall clock and CPU time are read at the start and at the end of the load, so that the
// start-up of a program does not count.

#include "measured.hpp"

#include <sys/resource.h>

#include <cstdio>

namespace bench::clients {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

rusage used() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage;
}

}  // namespace

Measurement::Measurement() {
  const rusage before = used();
  user_seconds_ = seconds(before.ru_utime);
  system_seconds_ = seconds(before.ru_stime);
}

void Measurement::print() const {
  const std::chrono::duration<double> lasted = std::chrono::steady_clock::now() - began_;
  const rusage after = used();
  std::printf(
      "{\"requests\": %zu, \"seconds\": %.6f, \"user\": %.6f, \"system\": %.6f, \"bytes\": %llu}\n",
      requests_, lasted.count(), seconds(after.ru_utime) - user_seconds_,
      seconds(after.ru_stime) - system_seconds_, static_cast<unsigned long long>(bytes_));
}

}  // namespace bench::clients
