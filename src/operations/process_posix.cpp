// SPDX-License-Identifier: MIT
// In: nothing. Out: numbers of the system. Sizes are Linux's alone: others tell only the largest
// size so far, which is of no use here.
#include "operations/process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <ctime>
#include <string_view>

namespace skua::operations {
namespace {

// Takes a number off the front of a text.
std::optional<std::uint64_t> number(std::string_view& text) noexcept {
  while (text.starts_with(' ')) text.remove_prefix(1);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

Process::Process()
    : memory_file_(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC)),
      start_seconds_(
          std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
              .count()) {}

Process::~Process() {
  if (memory_file_ >= 0) ::close(memory_file_);
}

ProcessFacts Process::facts() const noexcept {
  ProcessFacts facts{.start_seconds = start_seconds_};
  timespec used{};
  if (::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0) {
    facts.cpu_seconds = static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
  }
  if (memory_file_ < 0) return facts;
  std::array<char, 128> bytes;
  const ssize_t count = ::pread(memory_file_, bytes.data(), bytes.size(), 0);
  if (count <= 0) return facts;
  std::string_view text(bytes.data(), static_cast<std::size_t>(count));
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (const auto pages = number(text)) facts.virtual_bytes = *pages * page;
  if (const auto pages = number(text)) facts.resident_bytes = *pages * page;
  return facts;
}

}  // namespace skua::operations
