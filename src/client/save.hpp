// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "client/reception.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"

namespace skua::client {

/// Passes the rest of the content to `write`, in large pieces, on another thread. Returns its size
/// in bytes.
///
/// Waits for: the content, and the calls.
/// Ends with: the errors of Reception::read(); those of `write`, as a problem with `path`.
Task<Result<std::uint64_t, Problem>> write_content(
    Reception& reception, std::string path, std::function<Result<void>(const std::string&)> write);

/// Implements ClientResponse::save().
Task<Result<std::uint64_t, Problem>> save(Reception& reception, std::string path);

}  // namespace skua::client
