// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace skua::http {

/// Reports whether text is `uri-host [":" port]` with a non-empty host.
///
/// A host is an IPv6 address in brackets, or letters, digits and the unreserved and sub-delims
/// characters of RFC 3986 except ',', which no name contains but a joined field would.
/// Percent-encoding is not accepted.
/// RFC:       3986 §3.2.2, 9110 §7.2
bool is_authority(std::string_view text) noexcept;

/// Returns the host of a valid authority; an IPv6 address keeps its brackets.
std::string_view host_of(std::string_view authority) noexcept;

/// Returns the port of a valid authority, or `fallback` if it has none.
std::uint16_t port_of(std::string_view authority, std::uint16_t fallback) noexcept;

/// Reports whether two valid authorities name the same host and port. Letter case is ignored, and
/// a missing port is the default one.
bool is_same_authority(std::string_view a, std::string_view b, std::uint16_t default_port) noexcept;

/// A cache of the last valid authority: requests to a busy server repeat the same few.
class LastAuthority {
 public:
  /// Like http::is_authority(), but faster if the text equals the cached one.
  bool is_authority(std::string_view text) noexcept {
    if (text == std::string_view(text_.data(), size_bytes_) && size_bytes_ != 0) return true;
    if (!http::is_authority(text)) return false;
    if (text.size() <= text_.size()) {
      size_bytes_ = text.size();
      text.copy(text_.data(), text.size());
    }
    return true;
  }

 private:
  std::array<char, 64> text_{};
  std::size_t size_bytes_ = 0;
};

}  // namespace skua::http
