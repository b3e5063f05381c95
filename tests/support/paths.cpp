// SPDX-License-Identifier: MIT
// The only file that depends on the paths of the checkout and the build. All others compile to the
// same object in every checkout, so checkouts can share a compiler cache.
#include "support/paths.hpp"

namespace skua::testing {

std::string source_path(const char* relative) {
  return std::string(SKUA_SOURCE_DIR "/") + relative;
}

std::string program_path(const char* name) { return std::string(SKUA_BINARY_DIR "/bin/") + name; }

}  // namespace skua::testing
