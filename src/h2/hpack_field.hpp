// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "http/field.hpp"

namespace skua::h2 {

/// Which pseudo-header field a name is; Unknown for any other name that begins with a colon.
/// RFC 9113 §8.3, 8441 §4
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

/// One field as HPACK told it.
///
/// Lifetime:  the texts are valid until the sink that was given the field returns.
struct DecodedField {
  std::string_view name{};
  std::string_view value{};
  http::FieldName known = http::FieldName::Other;  ///< Other for a pseudo-header field
  Pseudo pseudo = Pseudo::None;
  /// Whether this field alone makes a message malformed, see hpack_rules.hpp; `host` is judged as
  /// that of a request. What a message has to have and may not have is for its reader to say.
  bool is_malformed = false;
};

}  // namespace skua::h2
