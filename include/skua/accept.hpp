// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "skua/request.hpp"

namespace skua {

/// The media type that the client likes best (Accept): one of the offers, the earlier of two that
/// it likes the same, the first where it does not say. Nothing where it accepts none: answer with
/// the first all the same, or with 406.
///
/// ```cpp
/// if (skua::preferred_type(request, {"text/html", "application/json"}) == "application/json") …
/// ```
///
/// Members that are malformed count for nothing. Say `response.vary("Accept")` where the answer
/// depends on it, so that caches keep both.
/// RFC:       9110 §12.5.1
std::optional<std::string_view> preferred_type(const Request& request,
                                               std::span<const std::string_view> offers) noexcept;

/// The same for languages (Accept-Language): `de` accepts the offer `de-CH`, and for want of better
/// `de-CH` accepts the offer `de`.
///
/// RFC:       9110 §12.5.4, 4647 §3.3.1, §3.4
std::optional<std::string_view> preferred_language(
    const Request& request, std::span<const std::string_view> offers) noexcept;

/// The same for content codings (Accept-Encoding): one of the offers, or `identity`, which is
/// always offered, last. Nothing where the client refuses even that.
///
/// RFC:       9110 §12.5.3
std::optional<std::string_view> preferred_encoding(
    const Request& request, std::span<const std::string_view> offers) noexcept;

inline std::optional<std::string_view> preferred_type(
    const Request& request, std::initializer_list<std::string_view> offers) noexcept {
  return preferred_type(request, std::span(offers.begin(), offers.size()));
}
inline std::optional<std::string_view> preferred_language(
    const Request& request, std::initializer_list<std::string_view> offers) noexcept {
  return preferred_language(request, std::span(offers.begin(), offers.size()));
}
inline std::optional<std::string_view> preferred_encoding(
    const Request& request, std::initializer_list<std::string_view> offers) noexcept {
  return preferred_encoding(request, std::span(offers.begin(), offers.size()));
}

}  // namespace skua
