// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "skua/config.hpp"

namespace skua::http {

/// A parameter of a media type or of a disposition, as it was sent.
struct Parameter {
  std::string_view name{};
  std::string_view value{};  ///< without its quotes; what is quoted may hold backslashes
  bool is_quoted = false;
};

/// The parameters behind a media type or a disposition: `; charset=utf-8; boundary="a b"`.
///
/// A value without quotes may hold any visible character but `;`, `,`, `"` and `\`: many senders
/// forget the quotes that `=`, `/` or `:` ask for.
/// RFC:       9110 §5.6.6
class Parameters {
 public:
  explicit constexpr Parameters(std::string_view text) noexcept : rest_(text) {}

  /// The next one; nothing at the end, and where the text is malformed.
  std::optional<Parameter> next() noexcept;
  /// Whether next() stopped because of that.
  [[nodiscard]] bool is_malformed() const noexcept { return is_malformed_; }

 private:
  std::string_view rest_;
  bool is_malformed_ = false;
};

/// A media type, as views of the field it was in.
///
/// RFC:       9110 §8.3.1
struct MediaType {
  std::string_view type{};        ///< `multipart`
  std::string_view subtype{};     ///< `form-data`
  std::string_view parameters{};  ///< `; boundary=x`, for Parameters

  /// Whether it is this one, whatever the case of its letters: `is("text", "html")`.
  [[nodiscard]] bool is(std::string_view type, std::string_view subtype) const noexcept;
};

/// Reads a Content-Type; nothing where it is malformed. Parameters are not looked at.
std::optional<MediaType> parse_media_type(std::string_view field) noexcept;

/// Takes the backslashes of a quoted value away, those in front of `"` and `\`. Any other stands
/// for itself: some senders write Windows paths as they are.
///
/// `out` has room for as many bytes as `quoted` has; returns how many were written.
/// RFC:       9110 §5.6.4
std::size_t unescape_quoted(std::string_view quoted, char* out) noexcept;

}  // namespace skua::http
