// SPDX-License-Identifier: MIT
#pragma once

namespace skua::base {

/// Gives memory that was freed back to the system, where the allocator keeps it and can be told to.
/// Takes milliseconds: for when there is nothing else to do.
void give_back_free_memory() noexcept;

}  // namespace skua::base
