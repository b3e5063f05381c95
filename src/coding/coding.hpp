// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace skua::coding {

/// A content coding, not necessarily available in this build. RFC 9110 §8.4.1, 7932, 8878
enum class Coding : std::uint8_t { Gzip, Deflate, Brotli, Zstd };

/// Returns the name in Content-Encoding: `gzip`, `deflate`, `br`, `zstd`.
std::string_view name(Coding coding) noexcept;

/// Finds a coding by name, ignoring case; `x-gzip` is gzip (RFC 9110 §8.4.1.3).
std::optional<Coding> find_coding(std::string_view name) noexcept;

/// Reports whether skua was built with the library for it.
bool is_available(Coding coding) noexcept;

}  // namespace skua::coding
