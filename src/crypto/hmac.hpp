// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "crypto/digest.hpp"
#include "skua/error.hpp"

namespace skua::crypto {

/// The authentication code of bytes under a key.
///
/// Ends with: Unsupported, as hash().
/// RFC:       2104
Result<std::string> hmac(Hash algorithm, std::string_view key, std::string_view bytes);

/// A key made of a secret for one purpose, which `info` names; at most 8160 bytes.
///
/// Ends with: Unsupported, as hash().
/// RFC:       5869, with SHA-256
Result<std::string> hkdf_sha256(std::string_view secret, std::string_view salt,
                                std::string_view info, std::size_t size_bytes);

}  // namespace skua::crypto
