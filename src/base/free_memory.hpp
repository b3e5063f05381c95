// SPDX-License-Identifier: MIT
#pragma once

namespace skua::base {

/// Gives memory that this thread has freed back to the system, where the allocator keeps it and can
/// be told to. It then keeps less from here on.
/// Takes milliseconds: for when there is nothing else to do.
void give_back_free_memory() noexcept;

}  // namespace skua::base
