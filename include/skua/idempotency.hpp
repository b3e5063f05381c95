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
  /// guard let in (auth::User); or else the session, see sessions(); or else the address of the
  /// client, which then is anonymous. Clients behind one gateway have one address, and an IPv6
  /// network of 64 bits counts as one: an anonymous client that knows or guesses the key of another
  /// one there gets its response. Keys that are random, as they ought to be, prevent that.
  std::function<std::string(const Request&)> owner{};
  bool is_required = false;  ///< 400 for a POST or PATCH without a key
  Duration lifetime = 24h;   ///< a response is repeated for this long
  /// Likewise, to anonymous clients; with max_response_bytes and a rate_limit() it bounds what they
  /// can store.
  Duration anonymous_lifetime = 10min;
  /// A request that runs keeps others out, and renews that each half of this time. If its server
  /// dies, or the handler is dropped, a repeated request runs after this time at the latest.
  Duration lease = 1min;
  std::size_t max_response_bytes = 64_KiB;  ///< of a response that is kept
};

/// Repeats the response to a POST or PATCH that a client repeats, instead of acting twice.
class SKUA_API IdempotencyKeys final {
 public:
  /// See Router::use().
  static constexpr bool ignores_path = true;

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
/// The first request runs, and its response is kept, unless it says that nothing was done: 5xx, or
/// the handler threw, or 401, 404, 405, 408, 421, 425, 429; then a repeated one runs. Otherwise a
/// repeated one gets the same response, without its `Set-Cookie` lines: a login that is repeated
/// logs nobody in. It gets 409 while the first one runs, and if its response was a file, a stream
/// or too large to be kept; 422 if the method, the target or the content are others; 503 if the
/// store does not answer. Use it after guards that authenticate, and after sessions().
///
/// A handler that is dropped where it waits, because its client has gone or its time was over, may
/// have acted: a repeated request runs it again once IdempotencyOptions::lease has passed. If that
/// must not happen, what it does has to be a single step, such as a transaction of a database.
///
/// RFC:       draft-ietf-httpapi-idempotency-key-header
[[nodiscard]] inline IdempotencyKeys idempotency_keys(IdempotencyOptions options,
                                                      std::shared_ptr<SharedTexts> texts) {
  return {std::move(options), std::move(texts)};
}

}  // namespace skua
