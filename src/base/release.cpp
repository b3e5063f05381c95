// SPDX-License-Identifier: MIT
// The version that is compiled into the library, which may differ from that of a program's headers.
#include "skua/release.hpp"

namespace skua {

std::string_view library_version() noexcept { return SKUA_VERSION_TEXT; }

}  // namespace skua
