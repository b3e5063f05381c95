// SPDX-License-Identifier: MIT
// Windows has no sockets that a process started later may inherit by number.
#include "service/successor.hpp"

namespace skua::service {

Result<int, Problem> start(const Successor&) {
  return Problem{Error(Errc::Unsupported, "hand over"), "no hand-over on this system"};
}

Result<std::vector<std::string>, Problem> own_command() {
  return Problem{Error(Errc::Unsupported, "hand over"), "no hand-over on this system"};
}

}  // namespace skua::service
