// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "http/field.hpp"

namespace skua::http {

/// What the present state of a resource is known by.
struct Validators {
  std::string_view etag{};                             ///< as it is sent; empty: it has none
  std::optional<std::chrono::sys_seconds> modified{};  ///< nothing: it has no such date
  bool exists = true;                                  ///< false: there is no representation at all
};

/// What the conditions of a request come to.
enum class Precondition : std::uint8_t {
  Proceed,      ///< answer as if there were none
  NotModified,  ///< 304
  Failed,       ///< 412
};

/// Decides If-Match, If-Unmodified-Since, If-None-Match and If-Modified-Since, in this order.
///
/// A date that cannot be read, or comes twice, is ignored. `now` is what an RFC 850 date needs.
/// RFC:       9110 §13.1, §13.2.2
Precondition check_preconditions(const Head& head, const Validators& current,
                                 std::chrono::sys_seconds now) noexcept;

/// Whether a Range field counts: there is no If-Range, or it names exactly the present state.
///
/// RFC:       9110 §13.1.5, §13.2.2 step 5
bool range_applies(const Head& head, const Validators& current,
                   std::chrono::sys_seconds now) noexcept;

}  // namespace skua::http
