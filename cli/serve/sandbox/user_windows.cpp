// SPDX-License-Identifier: MIT
#include "serve/sandbox/user.hpp"

namespace skua::cli {

Result<User, Problem> find_user(const std::string&) {
  return Problem{Error(Errc::Unsupported, "--user"), "--user: Windows cannot change users"};
}

Result<void, Problem> become(const User&) {
  return Problem::from(Error(Errc::Unsupported, "--user"));
}

}  // namespace skua::cli
