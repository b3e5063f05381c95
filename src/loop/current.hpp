// SPDX-License-Identifier: MIT
#pragma once

namespace skua::loop {

class Loop;

/// Like Loop::current(), but returns null instead of throwing, for code that also runs without a
/// loop.
[[nodiscard]] Loop* find_current() noexcept;

/// Reports whether a loop runs a turn on this thread.
[[nodiscard]] bool is_in_turn() noexcept;

}  // namespace skua::loop
