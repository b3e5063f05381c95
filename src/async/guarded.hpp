// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <type_traits>

#include "skua/error.hpp"

namespace skua::async {

/// Returns the text of the exception that is being handled, which is valid while it is handled.
/// Programs stay small, as each place that catches needs only one handler.
[[nodiscard]] std::string_view thrown_text() noexcept;

/// Calls a callback of the program where none of our callers could handle its exception. `tell`
/// gets the text of what it throws, and must not throw.
template <class Call, class Tell>
void guarded(const Call& call, const Tell& tell) noexcept {
  try {
    call();
  } catch (...) {
    tell(thrown_text());
  }
}

/// Likewise, if nobody is left who could be told.
template <class Call>
void guarded(const Call& call) noexcept {
  guarded(call, [](std::string_view) noexcept {});
}

/// Calls a callback of the program that returns a Result with a Problem; what it throws becomes
/// one. `context` is a literal.
template <class Call>
std::invoke_result_t<const Call&> attempted(const Call& call, const char* context) {
  try {
    return call();
  } catch (...) {
    return Problem{Error(Errc::SystemFailure, context), std::string(thrown_text())};
  }
}

}  // namespace skua::async
