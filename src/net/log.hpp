// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <initializer_list>
#include <string_view>

#include "skua/error.hpp"
#include "skua/log_level.hpp"

namespace skua::net {

/// A user's function for the log; empty if nobody listens.
using Log = std::function<void(LogLevel, std::string_view)>;

/// Returns a log that never throws: what `log` throws is dropped, as nobody is left to be told.
Log quiet(Log log);

/// Tells the log, which must not throw, of an error, or a line that is joined of pieces. A line for
/// which there is no memory is dropped.
void tell(const Log& log, LogLevel level, Error error) noexcept;
void tell(const Log& log, LogLevel level, std::initializer_list<std::string_view> pieces) noexcept;

}  // namespace skua::net
