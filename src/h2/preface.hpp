// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace skua::h2 {

/// The first bytes that an HTTP/2 client sends. RFC 9113 §3.4
inline constexpr std::string_view client_preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

enum class PrefaceMatch : std::uint8_t { No, Yes, NeedMore };

/// Reports whether a connection begins with the HTTP/2 preface (prior knowledge, RFC 9113 §3.3).
/// A Yes needs the first 24 bytes; nearly all HTTP/1 requests are a No within the first three.
constexpr PrefaceMatch match_preface(std::string_view first_bytes) noexcept {
  if (first_bytes.size() >= client_preface.size()) {
    return first_bytes.starts_with(client_preface) ? PrefaceMatch::Yes : PrefaceMatch::No;
  }
  return client_preface.starts_with(first_bytes) ? PrefaceMatch::NeedMore : PrefaceMatch::No;
}

}  // namespace skua::h2
