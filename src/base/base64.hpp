// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skua::base64 {

/// The two alphabets of RFC 4648: §4 with padding, §5 for URLs and cookies, without.
enum class Alphabet : std::uint8_t { Standard, Url };

/// Encodes bytes as text.
///
/// RFC:       4648 §4, §5
std::string encode(std::string_view bytes, Alphabet alphabet = Alphabet::Standard);

/// Decodes text; nullopt unless it is exactly what encode() writes: padding if the alphabet has
/// it and nowhere else, unused bits zero, no white space.
///
/// RFC:       4648 §3.3, §3.5
std::optional<std::string> decode(std::string_view text, Alphabet alphabet = Alphabet::Standard);

}  // namespace skua::base64
