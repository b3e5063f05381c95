// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "http/field.hpp"

namespace skua::h2 {

/// Pseudo-header fields; Unknown is any other name that begins with a colon. RFC 9113 §8.3,
/// 8441 §4
enum class Pseudo : std::uint8_t {
  None,
  Method,
  Scheme,
  Authority,
  Path,
  Status,
  Protocol,
  Unknown
};

/// A field decoded by HPACK.
///
/// Lifetime:  the texts are valid until the sink that received the field returns.
struct DecodedField {
  std::string_view name{};
  std::string_view value{};
  http::FieldName known = http::FieldName::Other;  ///< Other for a pseudo-header field
  Pseudo pseudo = Pseudo::None;
  /// Whether this field alone makes a message malformed: see hpack_rules.hpp. `host` follows the
  /// rules for requests. The reader checks which fields a message must or must not have.
  bool is_malformed = false;
};

}  // namespace skua::h2
