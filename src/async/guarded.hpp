// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string_view>
#include <type_traits>

#include "skua/error.hpp"

namespace skua::async {

/// Calls a callback of the program where none of our callers could handle its exception. `tell`
/// gets the text of what it throws, and must not throw.
template <class Call, class Tell>
void guarded(const Call& call, const Tell& tell) noexcept {
  try {
    call();
  } catch (const std::exception& error) {
    tell(std::string_view(error.what()));
  } catch (...) {
    tell(std::string_view("an exception of unknown type"));
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
  } catch (const std::exception& error) {
    return Problem{Error(Errc::SystemFailure, context), error.what()};
  } catch (...) {
    return Problem{Error(Errc::SystemFailure, context), "an exception of unknown type"};
  }
}

}  // namespace skua::async
