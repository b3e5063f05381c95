// SPDX-License-Identifier: MIT
// Windows has no convention for sockets that a service inherits.
#include "skua/inherited_sockets.hpp"

namespace skua {

Result<std::vector<ListeningSocket>, Problem> inherited_sockets() {
  return std::vector<ListeningSocket>();
}

}  // namespace skua
