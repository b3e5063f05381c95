// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

#include "skua/config.hpp"

namespace skua::http {

/// A media type parameter; the value has no surrounding quotes.
struct AcceptParameter {
  std::string_view name{};
  std::string_view value{};
};

/// Removes and returns the next parameter of `; charset=utf-8; q=1`. Returns nullopt with `text`
/// empty at the end, or with `text` unchanged if it is malformed.
///
/// RFC:       9110 §5.6.6
std::optional<AcceptParameter> take_parameter(std::string_view& text) noexcept;

/// One member of Accept, Accept-Encoding or Accept-Language.
struct Accepted {
  std::string_view value{};       ///< `text/*`, `gzip`, `de-CH`
  std::string_view parameters{};  ///< those before the weight, each with its leading semicolon
  unsigned weight = 1000;         ///< in thousandths; 0: not acceptable
};

/// An iterator over the members of one field line; malformed members are skipped.
///
/// RFC:       9110 §12.4.2, §12.5
class AcceptedList {
 public:
  explicit AcceptedList(std::string_view line SKUA_LIFETIMEBOUND) noexcept : rest_(line) {}

  /// Returns the next member, or nullopt at the end.
  std::optional<Accepted> next() noexcept;

 private:
  std::string_view rest_;
};

}  // namespace skua::http
