// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "loop/backend.hpp"

namespace skua::loop {

/// Ends with: Unsupported if the system has no epoll; TooManyOpenFiles and the like.
Result<std::unique_ptr<Backend>> make_epoll_backend();

}  // namespace skua::loop
