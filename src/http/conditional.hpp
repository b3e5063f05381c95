// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "http/field.hpp"

namespace skua::http {

/// The validators of a resource's current representation.
struct Validators {
  std::string_view etag{};                             ///< as sent; empty: none
  std::optional<std::chrono::sys_seconds> modified{};  ///< nullopt: unknown
  bool exists = true;                                  ///< false: there is no representation
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
