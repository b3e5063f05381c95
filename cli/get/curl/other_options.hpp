// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

namespace skua::cli::curl {

/// An option of curl that `skua curl` knows and does not carry out.
struct OtherOption {
  enum class Kind : std::uint8_t {
    Harmless,  ///< changes neither the request nor the outcome of an HTTP transfer, or is our
               ///< default
    Noted,     ///< likewise, but somebody may miss it: a note says so
    Refused,   ///< changes them: `why` says what to do instead
  };
  const char* names;
  Kind kind = Kind::Harmless;
  bool has_value = false;
  const char* why = "";
};

/// Returns all of them, for the options of curl 7.88 (`curl --help all`).
std::span<const OtherOption> other_options() noexcept;

}  // namespace skua::cli::curl
