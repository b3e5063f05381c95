// SPDX-License-Identifier: MIT
// In: a request. Out: the response of the handlers behind the guard, 401, or 503.
#include "serve/auth/password_guard.hpp"

#include <atomic>
#include <optional>
#include <utility>

#include "middleware/auth.hpp"
#include "skua/async.hpp"
#include "skua/credentials.hpp"
#include "skua/handler.hpp"

namespace skua::cli {
namespace {

constexpr int max_waiting = 64;

/// Counts a request that waits for its hash.
class Waiting {
 public:
  explicit Waiting(std::atomic<int>& count) : count_(count), place_(count.fetch_add(1)) {}
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() { --count_; }
  [[nodiscard]] bool is_one_too_many() const noexcept { return place_ >= max_waiting; }

 private:
  std::atomic<int>& count_;
  int place_;
};

}  // namespace

struct PasswordGuard::State {
  State(std::shared_ptr<const PasswordFile> passwords, auth::BasicGuard guard)
      : file(std::move(passwords)), quick(std::move(guard)) {}

  std::shared_ptr<const PasswordFile> file;
  auth::BasicGuard quick;  ///< lets in logins that need no hash
  std::atomic<int> waiting{0};
};

PasswordGuard::PasswordGuard(std::string_view realm,
                             const std::shared_ptr<const PasswordFile>& file,
                             const auth::BasicGuard::Check& also) {
  const auto check = [file, also](std::string_view user, std::string_view password) {
    const bool is_other = also && also(user, password);
    const bool is_verified = file->is_verified(user, password);
    return is_other || is_verified;
  };
  state_ = std::make_shared<State>(file, auth::basic(realm, check));
}

Task<Response> PasswordGuard::operator()(Request& request, Next next) const {
  std::optional<Response> refusal = state_->quick(request);
  if (!refusal) return next(request);
  const auto field = middleware::find_credentials(request, auth::Role::Origin);
  if (!field) return detail::finished_task(*std::move(refusal));
  auto login = BasicCredentials::parse(*field);
  if (!login) return detail::finished_task(*std::move(refusal));
  return verify(state_, *std::move(login), *std::move(refusal), request, next);
}

Task<Response> PasswordGuard::verify(std::shared_ptr<State> state, BasicCredentials login,
                                     Response refusal, Request& request, Next next) {
  {
    const Waiting waiting(state->waiting);
    if (waiting.is_one_too_many()) {
      Response busy(Status::ServiceUnavailable);
      busy.header("Retry-After", "1");
      co_return busy;
    }
    const auto hash = [state, login] { return state->file->verify(login.user, login.password); };
    auto call = offload(hash);
    const bool is_right = co_await call;
    if (!is_right) co_return refusal;
  }
  request.attachments().set(auth::User{std::move(login.user)});
  auto rest = next(request);
  Response response = co_await rest;
  co_return response;
}

}  // namespace skua::cli
