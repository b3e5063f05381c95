// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "net/close_detached.hpp"
#include "skua/error.hpp"
#include "skua/stream.hpp"
#include "skua/task.hpp"

namespace skua::sockets {

/// Connects to a host on the current loop; see TcpStream::connect.
Task<Result<net::HeldStream, Problem>> connect(std::string host, std::uint16_t port,
                                               ConnectOptions options);

}  // namespace skua::sockets
