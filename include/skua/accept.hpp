// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "skua/config.hpp"
#include "skua/request.hpp"

namespace skua {

/// Returns the offered media type that the client prefers (Accept): the earlier offer on a tie, the
/// first one if the request has no Accept field. Returns nullopt if the client accepts none of
/// them; then answer with the first one anyway, or with 406.
///
/// ```cpp
/// if (skua::preferred_type(request, {"text/html", "application/json"}) == "application/json") …
/// ```
///
/// Malformed members are ignored. Call `response.vary("Accept")` if the response depends on the
/// result, so that caches store each variant.
/// RFC:       9110 §12.5.1
SKUA_API std::optional<std::string_view> preferred_type(
    const Request& request, std::span<const std::string_view> offers) noexcept;

/// Like preferred_type(), for languages (Accept-Language): `de` matches the offer `de-CH`, and as a
/// fallback `de-CH` matches the offer `de`.
///
/// RFC:       9110 §12.5.4, 4647 §3.3.1, §3.4
SKUA_API std::optional<std::string_view> preferred_language(
    const Request& request, std::span<const std::string_view> offers) noexcept;

/// Like preferred_type(), for content codings (Accept-Encoding). `identity` is an implicit last
/// offer, and the result if the field is absent. Returns nullopt if even that is refused.
///
/// RFC:       9110 §12.5.3
SKUA_API std::optional<std::string_view> preferred_encoding(
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
