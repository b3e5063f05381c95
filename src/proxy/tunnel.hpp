// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "client/core.hpp"
#include "client/wire/exchange.hpp"
#include "skua/body.hpp"
#include "skua/bytes.hpp"

namespace skua::proxy {

/// Returns the content of a response that joins the client's connection, or stream, to that of an
/// upstream server which has switched to WebSocket: bytes flow in both directions, unchanged.
///
/// The end of the client's side is passed on; that of the server's ends the tunnel, and so does
/// `idle` without a byte in either direction. A drain sends both sides a close frame between two
/// frames, at a time within Timeouts::websocket_spread, unless the tunnel `outlasts_drains`.
[[nodiscard]] Body tunnel_to(client::SwitchedStream upstream, std::shared_ptr<client::Core> core,
                             Duration idle, bool outlasts_drains);

}  // namespace skua::proxy
