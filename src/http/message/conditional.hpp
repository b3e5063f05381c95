// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "http/message/field.hpp"
#include "skua/config.hpp"

namespace skua::http {

/// An entity tag: `"opaque"` or `W/"opaque"`. RFC 9110 §8.8.3.
struct EntityTag {
  std::string_view opaque{};  ///< the text between the quotes
  bool weak = false;
};

/// Parses text that is exactly one entity tag; returns nullopt for anything else.
std::optional<EntityTag> parse_entity_tag(std::string_view text SKUA_LIFETIMEBOUND) noexcept;

/// Compares strongly: the representations are byte-identical. RFC 9110 §8.8.3.2.
constexpr bool strongly_equal(EntityTag a, EntityTag b) noexcept {
  return !a.weak && !b.weak && a.opaque == b.opaque;
}

/// Compares weakly: the representations are equivalent. RFC 9110 §8.8.3.2.
constexpr bool weakly_equal(EntityTag a, EntityTag b) noexcept { return a.opaque == b.opaque; }

/// Reports whether a tag in If-Match names the version that `own` does. A weak form of our strong
/// tag does: whatever made it weak, as compression() does, sent that version in another coding. If
/// our tag is weak itself, then none does. See docs/decisions/0065-weak-forms-of-strong-tags.md.
constexpr bool names_version(EntityTag tag, EntityTag own) noexcept {
  return !own.weak && tag.opaque == own.opaque;
}

/// An iterator over the tags of one `If-Match` or `If-None-Match` line.
///
/// Empty list elements are skipped (RFC 9110 §5.6.1.2); the first malformed one ends the list.
class EntityTagList {
 public:
  explicit EntityTagList(std::string_view line SKUA_LIFETIMEBOUND) noexcept : rest_(line) {}

  /// Returns the next tag, or nullopt at the end or at a malformed element.
  std::optional<EntityTag> next() noexcept;

 private:
  std::string_view rest_;
};

/// The validators of a resource's current representation.
struct Validators {
  std::string_view etag{};                             ///< as sent; empty: none
  std::optional<std::chrono::sys_seconds> modified{};  ///< nullopt: unknown
  bool exists = true;                                  ///< false: there is no representation
  /// For If-Match: whether a tag of the request names the version that `etag` does.
  bool (*is_version)(EntityTag tag, EntityTag own) noexcept = names_version;
};

/// The result of a request's preconditions.
enum class Precondition : std::uint8_t {
  Proceed,      ///< handle the request normally
  NotModified,  ///< 304
  Failed,       ///< 412
};

/// Evaluates If-Match, If-Unmodified-Since, If-None-Match and If-Modified-Since, in this order.
///
/// A malformed or repeated date is ignored. `now` resolves the two-digit years of RFC 850 dates.
/// RFC:       9110 §13.1, §13.2.2
Precondition check_preconditions(const Head& head, const Validators& current,
                                 std::chrono::sys_seconds now) noexcept;

/// Reports whether Range applies: If-Range is absent or names exactly the current representation.
///
/// RFC:       9110 §13.1.5, §13.2.2 step 5
bool range_applies(const Head& head, const Validators& current,
                   std::chrono::sys_seconds now) noexcept;

}  // namespace skua::http
