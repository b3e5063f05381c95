// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "skua/error.hpp"

namespace skua::cli {

/// Reports whether this build can convert international host names: it was built with libidn2.
bool has_international_hosts() noexcept;

/// Returns a URL with its host name in ASCII form: `http://xn--bcher-kva.example/`. A URL whose
/// host is ASCII, or that has no scheme, is returned as it is. The rest of it is not looked at.
///
/// Ends with: MalformedUrl, its text the reason only.
/// RFC:       5891; Unicode TS #46, non-transitional
Result<std::string, Problem> with_ascii_host(std::string_view url);

}  // namespace skua::cli
