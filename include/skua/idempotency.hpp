// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstddef>
#include <functional>
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

/// Options of idempotency_keys().
struct IdempotencyOptions {
  /// Returns whose key it is, so that nobody gets another's response. Default: the user that a
  /// guard let in (auth::User), or the client's address.
  std::function<std::string(const Request&)> owner{};
  bool is_required = false;  ///< 400 for a POST or PATCH without a key
  Duration lifetime = 24h;   ///< a response is repeated for this long
  /// A handler that has not ended by then, because its server died, no longer keeps others out.
  Duration lease = 1min;
  std::size_t max_response_bytes = 64_KiB;  ///< of a response that is kept
};

/// Repeats the response to a POST or PATCH that a client repeats, instead of acting twice.
class SKUA_API IdempotencyKeys final {
 public:
  IdempotencyKeys(IdempotencyOptions options, std::shared_ptr<SharedTexts> texts);
  Task<Response> operator()(Request& request, Next next) const;

 private:
  struct Rules;
  static Task<Response> run(std::shared_ptr<const Rules> rules, Request& request, Next next);

  std::shared_ptr<const Rules> rules_;  // shared by the copies, and the requests in progress
};

/// Makes POST and PATCH with an `Idempotency-Key` safe to repeat, on several servers, too:
///
/// ```cpp
/// const skua::redis::PerThread redis("redis://cache.example.com");
/// router.use(skua::idempotency_keys({}, std::make_shared<skua::redis::SharedTexts>(redis)));
/// ```
///
/// The first request runs, and its response is kept, unless it failed (5xx, or the handler threw);
/// then a repeated one runs. Otherwise a repeated one gets
/// the same response; 409 while the first one runs, and if its response was a file, a stream or too
/// large to be kept; 422 if the method or the target are others; 503 if the store does not answer.
/// Use it after guards that authenticate.
///
/// RFC:       draft-ietf-httpapi-idempotency-key-header
[[nodiscard]] inline IdempotencyKeys idempotency_keys(IdempotencyOptions options,
                                                      std::shared_ptr<SharedTexts> texts) {
  return {std::move(options), std::move(texts)};
}

}  // namespace skua
