// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bench::raw {

/// Counts the empty lines (CR LF CR LF) that end in `bytes`.
///
/// `matched` holds how many bytes of an unfinished one (0 to 3) ended the previous piece of the
/// same stream. It is updated for the next piece, so the sum over all pieces does not depend on
/// where the stream is split.
[[nodiscard]] std::size_t count_heads(std::string_view bytes, std::uint8_t& matched) noexcept;

}  // namespace bench::raw
