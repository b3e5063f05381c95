// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "crypto/digest.hpp"
#include "skua/error.hpp"

namespace skua::crypto {

/// Returns the HMAC of `bytes` under `key`.
///
/// Ends with: Unsupported, like hash().
/// RFC:       2104
Result<std::string> hmac(Hash algorithm, std::string_view key, std::string_view bytes);

/// Derives a key of at most 8160 bytes from a secret; `info` names its purpose.
///
/// Ends with: Unsupported, like hash(), or if the key would be longer.
/// RFC:       5869, with SHA-256
Result<std::string> hkdf_sha256(std::string_view secret, std::string_view salt,
                                std::string_view info, std::size_t size_bytes);

}  // namespace skua::crypto
