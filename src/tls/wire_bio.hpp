// SPDX-License-Identifier: MIT
/// Where OpenSSL reads and writes records; included only where OpenSSL is there.
#pragma once

#include "tls/engine.hpp"
#include "tls/openssl.hpp"

namespace skua::tls {

/// A BIO that reads what an engine was fed, straight from the receive buffer, and writes into its
/// output.
BioPointer make_wire_bio(Engine& engine);

}  // namespace skua::tls
