// SPDX-License-Identifier: MIT
#pragma once

namespace skua::support {

/// Whether calls of a socket return at once instead of waiting. Windows cannot tell, so there the
/// socket is tried: it must have nothing to read.
bool is_non_blocking(int descriptor);
/// Whether child processes get a copy of the socket.
bool is_inherited(int descriptor);
/// Whether the descriptor is that of an open socket.
bool is_open_socket(int descriptor);

}  // namespace skua::support
