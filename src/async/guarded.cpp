// SPDX-License-Identifier: MIT
#include "async/guarded.hpp"

namespace skua::async {

std::string_view thrown_text() noexcept {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

}  // namespace skua::async
