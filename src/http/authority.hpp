// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace skua::http {

/// Whether text is `uri-host [":" port]` with a host that is not empty.
///
/// A host is an IPv6 address in brackets, or letters, digits and what RFC 3986 calls unreserved and
/// sub-delims, less ',' (no name has it, a joined field would). Nothing percent-encoded.
/// RFC:       3986 §3.2.2, 9110 §7.2
bool is_authority(std::string_view text) noexcept;

/// The host of a valid authority, an IPv6 address with its brackets.
std::string_view host_of(std::string_view authority) noexcept;

/// The port of a valid authority, or `fallback` where there is none.
std::uint16_t port_of(std::string_view authority, std::uint16_t fallback) noexcept;

/// Whether two valid authorities name the same host and port: letters in any case, a missing port
/// is the default one.
bool is_same_authority(std::string_view a, std::string_view b, std::uint16_t default_port) noexcept;

/// The authority that was found valid last: the requests of a busy server name the same few again
/// and again.
class LastAuthority {
 public:
  /// The same answer as http::is_authority, sooner when the text is that of the last call.
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
