// SPDX-License-Identifier: MIT
// Only Windows has completion ports.
#include "loop/backends.hpp"

namespace skua::loop {

Result<std::unique_ptr<Backend>> make_port_backend() {
  return Error(Errc::Unsupported, "completion ports");
}

}  // namespace skua::loop
