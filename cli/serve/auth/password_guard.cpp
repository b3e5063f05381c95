// SPDX-License-Identifier: MIT
// In: a request. Out: the response of the handlers behind the guard, 401, 429 or 503. Hashes are
// work that strangers can order, so they have a thread of their own, and those who often get them
// wrong have to wait.
#include "serve/auth/password_guard.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "loop/clock.hpp"
#include "middleware/auth.hpp"
#include "middleware/rate_limit.hpp"
#include "skua/credentials.hpp"
#include "skua/handler.hpp"
#include "skua/lane.hpp"

namespace skua::cli {
namespace {

constexpr int max_waiting = 64;

const loop::SteadyClock& clock_of_failures() {
  static const loop::SteadyClock clock;
  return clock;
}

/// Wrong logins of each address, and of each name: 30 at once, then one in five seconds.
class Failures {
 public:
  /// The keys of a request. Clients without an address of their own, behind a Unix socket, have no
  /// limit by address.
  struct Keys {
    std::string address{};
    std::string user{};
  };

  static Keys keys_of(const Request& request, const std::string& user) {
    std::string address = middleware::client_key(request.client_address().to_string());
    if (address.starts_with("unix:")) address.clear();
    return {std::move(address), user};
  }

  void count(const Keys& keys) {
    if (!keys.address.empty()) by_address_.ask(keys.address);
    by_user_.ask(keys.user);
  }
  /// Returns how long a client has to wait; zero if it may try a login.
  [[nodiscard]] Duration wait(const Keys& keys) {
    const RateDecision user = by_user_.look(keys.user);
    const RateDecision address =
        keys.address.empty() ? RateDecision{} : by_address_.look(keys.address);
    return std::max(user.is_allowed ? Duration() : user.wait,
                    address.is_allowed ? Duration() : address.wait);
  }

 private:
  static constexpr middleware::RateTable::Settings settings{
      .interval = std::chrono::seconds(5), .burst = 30, .max_keys = 4096};

  middleware::RateTable by_address_{settings, clock_of_failures()};
  middleware::RateTable by_user_{settings, clock_of_failures()};
};

Response refuse_for(Status status, Duration wait) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
  return std::move(Response(status).header("Retry-After", std::to_string(seconds)));
}

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
  Failures failures{};
  Lane hashes{{.threads = 1, .queued_calls = max_waiting}};
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
    const Failures::Keys keys = Failures::keys_of(request, login.user);
    const Duration wait = state->failures.wait(keys);
    if (wait > Duration()) co_return refuse_for(Status::TooManyRequests, wait);
    const Waiting waiting(state->waiting);
    if (waiting.is_one_too_many()) {
      co_return refuse_for(Status::ServiceUnavailable, std::chrono::seconds(1));
    }
    // Counts even if the client leaves meanwhile.
    const auto hash = [state, login, keys] {
      const bool is_right = state->file->verify(login.user, login.password);
      if (!is_right) state->failures.count(keys);
      return is_right;
    };
    auto call = offload(state->hashes, hash);
    const bool is_right = co_await call;
    if (!is_right) co_return refusal;
  }
  request.attachments().set(auth::User{std::move(login.user)});
  auto rest = next(request);
  Response response = co_await rest;
  co_return response;
}

}  // namespace skua::cli
