// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <memory>
#include <string>

#include "skua/auth.hpp"
#include "skua/config.hpp"
#include "skua/next.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/shared_texts.hpp"
#include "skua/task.hpp"

namespace skua::auth {

/// A middleware; see shared_digest().
class SKUA_API SharedDigest final {
 public:
  /// See Router::use().
  static constexpr bool ignores_path = true;

  SharedDigest(DigestOptions options, const std::string& key, std::shared_ptr<SharedTexts> texts);
  Task<Response> operator()(Request& request, Next next) const;

 private:
  struct Shared;
  static Task<Response> run(std::shared_ptr<Shared> shared, Request& request, Next next);

  std::shared_ptr<Shared> shared_;  // by the copies, and the requests in progress
};

/// Like digest(), for several servers behind one address: each accepts the nonces of all, and a
/// proof is good for one request to any of them.
///
/// ```cpp
/// const skua::redis::PerThread redis("redis://cache.example.com");
/// router.use(skua::auth::shared_digest(options, secret_from_a_file,
///                                      std::make_shared<skua::redis::SharedTexts>(redis)));
/// ```
///
/// `key` signs the nonces: a random secret of at least 32 bytes, the same on all servers, and with
/// no other use. Their clocks have to agree within DigestOptions::nonce_age. The store keeps a
/// short text for each request that was let in, for twice as long.
///
/// While the store does not answer, each server decides by itself, and asks the store again each
/// second. Somebody who has recorded a request can then repeat it once at each other server, until
/// its nonce is too old.
///
/// Ends with: std::invalid_argument, see digest(), or if the key is too short or the store missing.
/// RFC:       7616
[[nodiscard]] SKUA_API SharedDigest shared_digest(DigestOptions options, const std::string& key,
                                                  std::shared_ptr<SharedTexts> texts);

}  // namespace skua::auth
