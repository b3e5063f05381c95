// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "skua/config.hpp"

namespace skua::http {

/// A parameter of a media type or disposition, as sent.
struct Parameter {
  std::string_view name{};
  std::string_view value{};  ///< without its quotes, but with its backslash escapes
  bool is_quoted = false;
};

/// An iterator over the parameters of a media type or disposition: `; charset=utf-8; name="a b"`.
///
/// An unquoted value may contain any visible character except `;`, `,`, `"` and `\`: many senders
/// omit the quotes that `=`, `/` or `:` require.
/// RFC:       9110 §5.6.6
class Parameters {
 public:
  explicit constexpr Parameters(std::string_view text) noexcept : rest_(text) {}

  /// Returns the next parameter, or nullopt at the end or if the text is malformed.
  std::optional<Parameter> next() noexcept;
  /// Reports whether next() stopped at malformed text.
  [[nodiscard]] bool is_malformed() const noexcept { return is_malformed_; }

 private:
  std::string_view rest_;
  bool is_malformed_ = false;
};

/// A media type, as views of the field it was parsed from.
///
/// RFC:       9110 §8.3.1
struct MediaType {
  std::string_view type{};        ///< `multipart`
  std::string_view subtype{};     ///< `form-data`
  std::string_view parameters{};  ///< `; boundary=x`, for Parameters

  /// Reports whether it is this media type, ignoring case: `is("text", "html")`.
  [[nodiscard]] bool is(std::string_view type, std::string_view subtype) const noexcept;
};

/// Parses a Content-Type; returns nullopt if it is malformed. Parameters are not checked.
std::optional<MediaType> parse_media_type(std::string_view field) noexcept;

/// Removes the backslashes that escape `"` or `\` in a quoted value. Any other backslash stands for
/// itself: some senders write Windows paths unescaped.
///
/// `out` must have room for as many bytes as `quoted`. Returns the number of bytes written.
/// RFC:       9110 §5.6.4
std::size_t unescape_quoted(std::string_view quoted, char* out) noexcept;

}  // namespace skua::http
