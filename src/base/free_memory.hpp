// SPDX-License-Identifier: MIT
#pragma once

namespace skua::base {

/// Gives freed memory of this thread back to the system, if the allocator supports it. The
/// allocator keeps less from here on. Takes milliseconds, so call it only when idle.
void give_back_free_memory() noexcept;

}  // namespace skua::base
