// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

namespace skua::async {

/// Destroys a value whose destructor takes long on the pool of the current loop; at once if there
/// is no loop, or if the queue of its pool is full. It has no other owner.
void destroy_off_loop(std::shared_ptr<void> value) noexcept;

}  // namespace skua::async
