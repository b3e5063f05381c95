// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace skua::crypto {

/// Returns the SHA-1 of a text, 20 bytes, also without OpenSSL: for protocols that name things by
/// it, and hide nothing with it.
///
/// RFC:       3174
std::string sha1(std::string_view text);

}  // namespace skua::crypto
