// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

#include "skua/config.hpp"

namespace skua::http {

/// An entity tag: `"opaque"` or `W/"opaque"`. RFC 9110 §8.8.3.
struct EntityTag {
  std::string_view opaque{};  ///< what stands between the quotes
  bool weak = false;
};

/// The one entity tag that `text` consists of; nothing when it is anything else.
std::optional<EntityTag> parse_entity_tag(std::string_view text SKUA_LIFETIMEBOUND) noexcept;

/// Both strong and the same: the bytes are equal. RFC 9110 §8.8.3.2.
constexpr bool strongly_equal(EntityTag a, EntityTag b) noexcept {
  return !a.weak && !b.weak && a.opaque == b.opaque;
}

/// The same but for weakness: the meaning is equal. RFC 9110 §8.8.3.2.
constexpr bool weakly_equal(EntityTag a, EntityTag b) noexcept { return a.opaque == b.opaque; }

/// Reads the tags of one `If-Match` or `If-None-Match` line one by one.
///
/// Empty list elements are skipped (RFC 9110 §5.6.1.2); the first malformed one ends the list.
class EntityTagList {
 public:
  explicit EntityTagList(std::string_view line SKUA_LIFETIMEBOUND) noexcept : rest_(line) {}

  /// The next tag; nothing at the end, or where the list is malformed.
  std::optional<EntityTag> next() noexcept;

 private:
  std::string_view rest_;
};

}  // namespace skua::http
