// SPDX-License-Identifier: MIT
#include "serve/hand_over/launcher.hpp"

namespace skua::cli {

Result<void, Problem> Launcher::start() {
  return Problem{Error(Errc::Unsupported, "--hand-over"), "--hand-over: not on this system"};
}

Result<int, Problem> Launcher::launch(const std::vector<ListeningSocket>&) const {
  return Problem{Error(Errc::Unsupported, "--hand-over"), "--hand-over: not on this system"};
}

void Launcher::end() noexcept {}

}  // namespace skua::cli
