// SPDX-License-Identifier: MIT
#include "base/system_text.hpp"

#include <system_error>

namespace skua::base {

std::string system_text(int code) { return std::generic_category().message(code); }

}  // namespace skua::base
