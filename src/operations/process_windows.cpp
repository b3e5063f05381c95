// SPDX-License-Identifier: MIT
#include "operations/process.hpp"

#include <windows.h>
// After it.
#include <psapi.h>

#include <chrono>

namespace skua::operations {
namespace {

double seconds(const FILETIME& time) noexcept {
  const ULARGE_INTEGER parts{.u = {.LowPart = time.dwLowDateTime, .HighPart = time.dwHighDateTime}};
  return static_cast<double>(parts.QuadPart) / 1e7;
}

}  // namespace

Process::Process()
    : start_seconds_(
          std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
              .count()) {}

Process::~Process() = default;

ProcessFacts Process::facts() const noexcept {
  ProcessFacts facts{.start_seconds = start_seconds_};
  FILETIME made{};
  FILETIME ended{};
  FILETIME kernel{};
  FILETIME user{};
  if (::GetProcessTimes(::GetCurrentProcess(), &made, &ended, &kernel, &user) != 0) {
    facts.cpu_seconds = seconds(kernel) + seconds(user);
  }
  PROCESS_MEMORY_COUNTERS memory{};
  if (::K32GetProcessMemoryInfo(::GetCurrentProcess(), &memory, sizeof memory) != 0) {
    facts.resident_bytes = memory.WorkingSetSize;
    facts.virtual_bytes = memory.PagefileUsage;
  }
  return facts;
}

}  // namespace skua::operations
