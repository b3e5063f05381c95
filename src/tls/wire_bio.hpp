// SPDX-License-Identifier: MIT
/// OpenSSL's access to an engine's records; include only in builds with OpenSSL.
#pragma once

#include "tls/engine.hpp"
#include "tls/openssl.hpp"

namespace skua::tls {

/// Creates a BIO that reads an engine's input straight from the receive buffer, and writes to its
/// output.
BioPointer make_wire_bio(Engine& engine);

}  // namespace skua::tls
