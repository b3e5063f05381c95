// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace skua::coding {

/// A content coding that a library of ours may know. RFC 9110 §8.4.1, 7932, 8878.
enum class Coding : std::uint8_t { Gzip, Deflate, Brotli, Zstd };

/// The name in Content-Encoding: `gzip`, `deflate`, `br`, `zstd`.
std::string_view name(Coding coding) noexcept;

/// The coding with this name, whatever its case; `x-gzip` is gzip (RFC 9110 §8.4.1.3).
std::optional<Coding> find_coding(std::string_view name) noexcept;

/// Whether the library for it was there when skua was built.
bool is_available(Coding coding) noexcept;

}  // namespace skua::coding
