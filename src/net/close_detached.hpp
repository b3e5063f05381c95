// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "net/stream.hpp"

namespace skua::net {

/// Closes a stream that nobody needs any more, and destroys it when it is closed: in a later turn
/// of its loop, or with the loop. Nobody is told anything else of it. Not inside one of its calls.
/// `sent` is kept as long: the memory of a send that may be pending.
void close_detached(std::unique_ptr<Stream> stream, std::shared_ptr<const void> sent = {});

}  // namespace skua::net
