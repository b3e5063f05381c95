// SPDX-License-Identifier: MIT
// The only file that knows where the checkout and the build lie: everything else compiles to the
// same object in every checkout, so that they share a compiler cache.
#include "support/paths.hpp"

namespace skua::testing {

std::string source_path(const char* relative) {
  return std::string(SKUA_SOURCE_DIR "/") + relative;
}

std::string program_path(const char* name) { return std::string(SKUA_BINARY_DIR "/bin/") + name; }

}  // namespace skua::testing
