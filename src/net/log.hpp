// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "async/guarded.hpp"
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

/// Tells the log that a callback failed.
void tell_failed(const Log& log, const char* name, std::string_view why) noexcept;

template <class... Arguments>
std::function<void(Arguments...)> guarded(std::function<void(Arguments...)> callback,
                                          const char* name, const Log& log) {
  if (!callback) return callback;
  return [callback = std::move(callback), name, log](Arguments... arguments) {
    async::guarded([&] { callback(arguments...); },
                   [&](std::string_view why) noexcept { tell_failed(log, name, why); });
  };
}

}  // namespace skua::net
