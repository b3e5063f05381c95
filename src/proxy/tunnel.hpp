// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "client/core.hpp"
#include "client/wire/exchange.hpp"
#include "skua/body.hpp"
#include "skua/bytes.hpp"

namespace skua::proxy {

/// Returns the content of a response that joins the client's connection, or stream, to that of an
/// upstream server which has switched protocols: bytes flow in both directions, unseen.
///
/// The end of the client's side is passed on; that of the server's ends the tunnel, and so does
/// `idle` without a byte in either direction.
[[nodiscard]] Body tunnel_to(client::SwitchedStream upstream, std::shared_ptr<client::Core> core,
                             Duration idle);

}  // namespace skua::proxy
