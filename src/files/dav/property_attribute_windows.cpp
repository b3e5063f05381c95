// SPDX-License-Identifier: MIT
// Windows has no extended attributes that programs can rely on.
#include "files/dav/dead_properties.hpp"

namespace skua::files {

std::string read_property_attribute(int) { return {}; }

Result<void> write_property_attribute(int, std::string_view text) {
  if (text.empty()) return {};
  return Error(Errc::Unsupported, "extended attribute");
}

}  // namespace skua::files
