// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/next.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/shared_texts.hpp"
#include "skua/task.hpp"

namespace skua {

/// Sessions that ended before their cookies do: a list that several servers share.
///
/// ```cpp
/// const skua::redis::PerThread redis("redis://cache.example.com");
/// const skua::RevokedSessions revoked(std::make_shared<skua::redis::SharedTexts>(redis));
/// router.use(skua::sessions({.keys = {secret_from_a_file}}));
/// router.use(revoked);
/// router.post("/logout", [revoked](skua::Request& request) -> skua::Task<skua::Response> {
///   const auto done = co_await revoked.revoke(skua::session(request).id());
///   skua::session(request).clear();
///   co_return done ? skua::Status::NoContent : skua::Status::ServiceUnavailable;
/// });
/// ```
///
/// A request with a revoked session gets an empty one. If the store does not answer, 503.
class SKUA_API RevokedSessions final {
 public:
  /// See Router::use().
  static constexpr bool ignores_path = true;

  /// `lifetime` is that of sessions: SessionOptions::lifetime. If that is zero, take
  /// SessionOptions::idle and a few minutes, in which all cookies end that are not renewed.
  ///
  /// Ends with: std::invalid_argument if `lifetime` is not positive.
  explicit RevokedSessions(std::shared_ptr<SharedTexts> texts,
                           std::chrono::seconds lifetime = 24h * 30);

  /// Ends a session by its id; see Session::id().
  ///
  /// Ends with: the store's problem.
  Task<Result<void, Problem>> revoke(std::string id) const;
  /// The middleware; use it after sessions().
  Task<Response> operator()(Request& request, Next next) const;

 private:
  static Task<Result<void, Problem>> add(std::shared_ptr<SharedTexts> texts, std::string id,
                                         Duration lifetime);
  static Task<Response> run(std::shared_ptr<SharedTexts> texts, Request& request, Next next);

  std::shared_ptr<SharedTexts> texts_;  // shared by the copies, and others
  std::chrono::seconds lifetime_;
};

}  // namespace skua
