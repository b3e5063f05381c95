// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "skua/address.hpp"
#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"

namespace skua {

/// Resolves host names without blocking the loop, each name once at a time, and caches the answers
/// for ten seconds. A name server that does not answer delays only callers that need its names.
class SKUA_API Resolver final {
 public:
  /// Ends with: std::logic_error on a thread without a loop.
  Resolver();
  Resolver(Resolver&&) noexcept;
  Resolver& operator=(Resolver&&) noexcept;
  ~Resolver();

  /// Returns the addresses of a host, best first; at least one. Numeric addresses and `localhost`
  /// are answered at once.
  ///
  /// Waits for: name servers, at most `patience`; a lookup that takes longer continues for later
  ///            callers.
  /// Ends with: TimedOut; NameNotResolved; InvalidAddress if `host` is not a name; Overloaded if
  ///            too many lookups are already queued.
  /// Lifetime:  the resolver outlives the task.
  Task<Result<std::vector<Address>, Problem>> resolve(std::string host, std::uint16_t port = 0,
                                                      Duration patience = 5s);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua
