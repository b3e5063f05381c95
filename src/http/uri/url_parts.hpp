// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "skua/error.hpp"
#include "skua/url.hpp"

namespace skua::http {

/// The components of a URI reference as views. A missing component differs from an empty one.
struct UrlParts {
  std::string_view scheme{};  ///< empty: none
  bool has_authority = false;
  std::optional<std::string_view> userinfo{};
  std::string_view host{};  ///< with brackets
  std::optional<std::string_view> port{};
  std::string_view path{};
  std::optional<std::string_view> query{};
  std::optional<std::string_view> fragment{};

  bool operator==(const UrlParts&) const noexcept = default;

  /// Splits a URI reference and checks every octet of it.
  ///
  /// Ends with: Errc::MalformedUrl.
  /// RFC:       3986 appendix A; 6874 §2
  static Result<UrlParts> split(std::string_view text) noexcept;
  static UrlParts of(const Url& url) noexcept;
  /// Joins the components without checking them. RFC 3986 §5.3
  [[nodiscard]] Url join() const;
};

/// Returns the kind of a host, or nullopt if it is invalid.
std::optional<HostKind> classify_host(std::string_view host) noexcept;

/// The parts of a bracketed IPv6 host: the address, and the zone after `%25`.
struct Ipv6Host {
  std::string_view address{};
  std::string_view zone{};  ///< still encoded; empty: none
};
Ipv6Host split_ipv6(std::string_view host) noexcept;

/// Parses a port; returns nullopt if it is empty, not a number or above 65535.
std::optional<std::uint16_t> port_number(std::string_view digits) noexcept;

/// Returns the default port of http, https, ws or wss, ignoring case; nullopt for other schemes.
std::optional<std::uint16_t> scheme_port(std::string_view scheme) noexcept;

/// Decodes each percent-encoded triplet; anything else stands for itself.
std::string decode_triplets(std::string_view text);

/// RFC 3986 §5.2.4
std::string remove_dot_segments(std::string_view path);

}  // namespace skua::http
