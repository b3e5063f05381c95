// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "client/reception.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"

namespace skua::client {

/// Hands all that is left of the content to `write`, in large pieces, on another thread; how many
/// bytes that were.
///
/// Waits for: the content, and the calls.
/// Ends with: as Reception::read(); a problem with `path` and what `write` ends with.
Task<Result<std::uint64_t, Problem>> write_content(
    Reception& reception, std::string path, std::function<Result<void>(const std::string&)> write);

/// As ClientResponse::save().
Task<Result<std::uint64_t, Problem>> save(Reception& reception, std::string path);

}  // namespace skua::client
