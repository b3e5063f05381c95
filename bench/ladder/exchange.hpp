// SPDX-License-Identifier: MIT
#pragma once

namespace ladder {

/// Reads one request from a blocking socket, answers it, and closes the connection: the rungs
/// gather and threads.
void serve_once(int fd);

}  // namespace ladder
