// SPDX-License-Identifier: MIT
// A thin wrapper of libqrencode, the only file that includes it.
#include "serve/launch/qr_code.hpp"

#include <string_view>

#if defined(SKUA_HAS_QR)
#include <qrencode.h>

#include <cerrno>
#include <memory>
#endif

namespace skua::cli {

#if defined(SKUA_HAS_QR)

Result<QrCode> make_qr_code(const std::string& text) {
  const std::unique_ptr<QRcode, decltype(&::QRcode_free)> made(
      ::QRcode_encodeString8bit(text.c_str(), 0, QR_ECLEVEL_L), &::QRcode_free);
  if (!made) return Error(errno == ERANGE ? Errc::BodyTooLong : Errc::OutOfMemory, "QR code");
  QrCode code{.side = static_cast<std::size_t>(made->width)};
  code.dark.resize(code.side * code.side);
  for (std::size_t i = 0; i < code.dark.size(); ++i) code.dark[i] = (made->data[i] & 1U) != 0;
  return code;
}

bool has_qr_codes() noexcept { return true; }

#else

Result<QrCode> make_qr_code(const std::string&) { return Error(Errc::Unsupported, "QR code"); }

bool has_qr_codes() noexcept { return false; }

#endif

// ISO/IEC 18004 §5.3.8: the quiet zone. The colours are those of the cube of 256, which themes
// leave alone.
std::string draw_qr_code(const QrCode& code, bool has_colours) {
  constexpr std::size_t quiet_zone = 4;
  constexpr std::string_view black_on_white = "\x1b[38;5;16;48;5;231m";
  constexpr std::string_view plain = "\x1b[0m";
  const std::size_t side = code.side + 2 * quiet_zone;
  const auto is_drawn = [&](std::size_t row, std::size_t column) {
    if (row >= side) return false;  // the lower half of the last line
    // An index that wraps around is outside, too.
    return code.is_dark(row - quiet_zone, column - quiet_zone) == has_colours;
  };
  std::string text;
  for (std::size_t row = 0; row < side; row += 2) {
    if (has_colours) text += black_on_white;
    for (std::size_t column = 0; column < side; ++column) {
      const bool upper = is_drawn(row, column);
      const bool lower = is_drawn(row + 1, column);
      text += upper ? (lower ? "\u2588" : "\u2580") : (lower ? "\u2584" : " ");
    }
    if (has_colours) text += plain;
    text += '\n';
  }
  return text;
}

}  // namespace skua::cli
