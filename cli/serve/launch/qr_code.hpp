// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "skua/error.hpp"

namespace skua::cli {

/// A QR code: a square of modules, row by row.
struct QrCode {
  std::size_t side = 0;
  std::vector<bool> dark{};

  /// Reports whether a module is dark; those outside, the quiet zone, are not.
  [[nodiscard]] bool is_dark(std::size_t row, std::size_t column) const {
    return row < side && column < side && dark[row * side + column];
  }
};

/// Returns a text as a QR code.
///
/// Ends with: Unsupported if this build has no libqrencode, BodyTooLong.
Result<QrCode> make_qr_code(const std::string& text);

/// Reports whether this build has libqrencode.
bool has_qr_codes() noexcept;

/// Draws a code with half blocks, two rows a line, and its quiet zone of four modules. With colours
/// it is black on white on every terminal; without, the light modules are drawn, for a dark one.
std::string draw_qr_code(const QrCode& code, bool has_colours);

}  // namespace skua::cli
