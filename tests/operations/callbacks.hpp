// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>

#include "skua.hpp"
#include "support/client.hpp"

namespace skua::testing {

// Callbacks of programs that throw: something of standard type, or of any other. That must end no
// thread of ours, and cost no more than what the callback was called for.
//
// tools/check_callbacks.py compares the lines `throws: ...` above the tests with the callbacks of
// the public headers.

enum class Thrown : bool { Exception, Int };

class Callbacks : public ::testing::TestWithParam<Thrown> {
 protected:
  [[noreturn]] void fail() const {
    ++calls_;
    if (GetParam() == Thrown::Int) throw 42;  // NOLINT(hicpp-exception-baseclass)
    throw std::runtime_error("it broke");
  }
  [[nodiscard]] static std::string text() {
    return GetParam() == Thrown::Int ? "an exception of unknown type" : "it broke";
  }
  Hooks logging() {
    return {.log = [this](LogLevel level, std::string_view line) {
      if (level < LogLevel::Warning) return;
      const std::lock_guard lock(mutex_);
      lines_.append(line).append("\n");
    }};
  }
  std::string lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  static std::string ask(std::uint16_t port, const std::string& path = "/") {
    Client client(port);
    client.send(get(path));
    const auto answer = client.answer();
    return answer ? std::to_string(answer->status) : "none";
  }
  static Span span() { return {.context = TraceContext::start(true), .name = "GET /"}; }

  mutable std::atomic<int> calls_{0};
  std::mutex mutex_;
  std::string lines_;
};

inline std::string name_of(const ::testing::TestParamInfo<Thrown>& thrown) {
  return thrown.param == Thrown::Int ? "Int" : "Exception";
}

inline const auto all_thrown = ::testing::Values(Thrown::Exception, Thrown::Int);

}  // namespace skua::testing
