// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "skua/config.hpp"
#include "skua/error.hpp"

namespace skua::http {

/// The boundary that separates the parts of multipart content.
///
/// RFC:       2046 §5.1.1
class Boundary {
 public:
  static constexpr std::size_t max_bytes = 70;

  /// Accepts 1 to 70 letters, digits, spaces and `'()+_,-./:=?`, not ending in a space; returns
  /// nullopt for anything else.
  static std::optional<Boundary> make(std::string_view text) noexcept;
  /// Returns an unpredictable boundary, so that no content contains it.
  static Boundary random();

  [[nodiscard]] std::string_view text() const noexcept SKUA_LIFETIMEBOUND {
    return delimiter().substr(4);
  }
  /// The boundary with CRLF and two dashes in front, as it separates parts.
  [[nodiscard]] std::string_view delimiter() const noexcept SKUA_LIFETIMEBOUND {
    return {delimiter_.data(), size_bytes_};
  }

 private:
  explicit Boundary(std::string_view text) noexcept;

  std::array<char, max_bytes + 4> delimiter_{'\r', '\n', '-', '-'};
  std::uint8_t size_bytes_ = 4;
};

/// Parses the boundary of a Content-Type.
///
/// Ends with: UnsupportedMediaType if it is not `multipart/...`; MalformedMultipart if the boundary
///            is missing, repeated or invalid.
/// RFC:       2046 §5.1.1
Result<Boundary> parse_boundary(std::string_view content_type) noexcept;

}  // namespace skua::http
