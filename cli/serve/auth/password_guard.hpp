// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string_view>

#include "serve/auth/password_file.hpp"
#include "skua/auth.hpp"
#include "skua/credentials.hpp"
#include "skua/next.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"

namespace skua::cli {

/// Middleware that requires a login of a password file, or one that `also` accepts, by HTTP Basic.
///
/// A login is hashed on a thread of its own, and passes without that from then on. More logins at
/// once than a few dozens are answered with 503, and those of an address or a user that were often
/// wrong with 429 for a while, so that attackers delay others for a moment only.
class PasswordGuard {
 public:
  PasswordGuard(std::string_view realm, const std::shared_ptr<const PasswordFile>& file,
                const auth::BasicGuard::Check& also);

  Task<Response> operator()(Request& request, Next next) const;

 private:
  struct State;
  static Task<Response> verify(std::shared_ptr<State> state, BasicCredentials login,
                               Response refusal, Request& request, Next next);

  std::shared_ptr<State> state_;  // shared by requests and the hashes that they began
};

}  // namespace skua::cli
