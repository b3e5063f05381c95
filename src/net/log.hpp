// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "skua/error.hpp"
#include "skua/log_level.hpp"

namespace skua::net {

/// A user's function for the log; empty if nobody listens.
using Log = std::function<void(LogLevel, std::string_view)>;

/// Returns a log that never throws: what `log` throws is dropped, as nobody is left to be told.
Log quiet(Log log);

/// Returns a callback of the program's that never throws: the log, which must not throw either, is
/// told `the callback NAME failed: ...`. An empty callback stays empty. `name` is a literal.
template <class... Arguments>
std::function<void(Arguments...)> guarded(std::function<void(Arguments...)> callback,
                                          const char* name, const Log& log);

/// Tells the log, which must not throw, of an error, or a line that is joined of pieces. A line for
/// which there is no memory is dropped.
void tell(const Log& log, LogLevel level, Error error) noexcept;
void tell(const Log& log, LogLevel level, std::initializer_list<std::string_view> pieces) noexcept;

/// Returns a log that prints warnings and errors on standard error, a line each.
Log to_standard_error();

/// Calls a function with its context; the log, which must not throw, hears of what it throws.
void call_guarded(void (*call)(const void* context), const void* context, const char* name,
                  const Log& log) noexcept;
template <class Call>
void call_guarded(const Call& call, const char* name, const Log& log) noexcept {
  call_guarded([](const void* kept) { (*static_cast<const Call*>(kept))(); }, &call, name, log);
}

/// The function that guarded() returns. Not a lambda: each program has the names of all types in
/// it.
template <class... Arguments>
struct Guarded {
  std::function<void(Arguments...)> callback;
  const char* name;
  Log log;

  void operator()(Arguments... arguments) const {
    call_guarded([&] { callback(arguments...); }, name, log);
  }
};

template <class... Arguments>
std::function<void(Arguments...)> guarded(std::function<void(Arguments...)> callback,
                                          const char* name, const Log& log) {
  if (!callback) return callback;
  return Guarded<Arguments...>{std::move(callback), name, log};
}

}  // namespace skua::net
