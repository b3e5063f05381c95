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

/// What separates the parts of multipart content.
///
/// RFC:       2046 §5.1.1
class Boundary {
 public:
  static constexpr std::size_t max_bytes = 70;

  /// 1 to 70 letters, digits and `'()+_,-./:=?`, and spaces but for the last; else nothing.
  static std::optional<Boundary> make(std::string_view text) noexcept;
  /// One that no content has, as nobody can foresee it.
  static Boundary random();

  [[nodiscard]] std::string_view text() const noexcept SKUA_LIFETIMEBOUND {
    return delimiter().substr(4);
  }
  /// With the CRLF and the dashes in front: what parts are separated by.
  [[nodiscard]] std::string_view delimiter() const noexcept SKUA_LIFETIMEBOUND {
    return {delimiter_.data(), size_bytes_};
  }

 private:
  explicit Boundary(std::string_view text) noexcept;

  std::array<char, max_bytes + 4> delimiter_{'\r', '\n', '-', '-'};
  std::uint8_t size_bytes_ = 4;
};

/// The boundary in a Content-Type.
///
/// Ends with: UnsupportedMediaType where it is not `multipart/...`; MalformedMultipart where the
///            boundary is missing, there twice or not one.
/// RFC:       2046 §5.1.1
Result<Boundary> parse_boundary(std::string_view content_type) noexcept;

}  // namespace skua::http
