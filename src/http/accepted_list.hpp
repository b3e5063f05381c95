// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

#include "skua/config.hpp"

namespace skua::http {

/// A parameter of a media type; the value without the quotes around it.
struct AcceptParameter {
  std::string_view name{};
  std::string_view value{};
};

/// Takes the next parameter off what follows a media type: `; charset=utf-8; q=1`. At the end
/// `text` is empty; where it is malformed, it is not.
///
/// RFC:       9110 §5.6.6
std::optional<AcceptParameter> take_parameter(std::string_view& text) noexcept;

/// One member of Accept, Accept-Encoding or Accept-Language.
struct Accepted {
  std::string_view value{};       ///< `text/*`, `gzip`, `de-CH`
  std::string_view parameters{};  ///< those before the weight, with the semicolon in front of each
  unsigned weight = 1000;         ///< in thousandths; zero: refused
};

/// Reads the members of one line one by one; those that are malformed are left out.
///
/// RFC:       9110 §12.4.2, §12.5
class AcceptedList {
 public:
  explicit AcceptedList(std::string_view line SKUA_LIFETIMEBOUND) noexcept : rest_(line) {}

  /// The next member; nothing at the end.
  std::optional<Accepted> next() noexcept;

 private:
  std::string_view rest_;
};

}  // namespace skua::http
