// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "loop/loop.hpp"
#include "net/problem.hpp"
#include "skua/address.hpp"
#include "skua/task.hpp"
#include "sockets/lookup_threads.hpp"

namespace skua::sockets {

using Addresses = std::vector<Address>;

/// A fixed address for a host, used instead of a lookup.
struct HostOverride {
  std::string host{};
  std::uint16_t port = 0;  ///< of the requests that it applies to; 0: every port
  Address address{};       ///< may be a Unix path; port 0: the port of the request
};

struct ResolverOptions {
  Duration cache_time = 10s;              ///< how long answers are cached; zero: not at all
  Duration failure_time = 1s;             ///< how long failures are cached
  std::size_t cache_entries = 256;        ///< the most names cached; zero: none
  std::vector<HostOverride> overrides{};  ///< checked first; the first match is used
  /// The family of the addresses that are returned; None: any. Unix paths are always returned.
  Address::Family family = Address::Family::None;
  LookupOptions lookups{};  ///< for all other names
};

/// Resolves host names without blocking its loop, each name once at a time.
///
/// Numeric addresses, `localhost` and overrides are answered at once, all else by LookupThreads:
/// a name server that does not answer delays only callers that need its names.
/// Lifetime:  one loop; it outlives the tasks from resolve(). A lookup that it started may end
///            after it, and is then dropped.
class Resolver final {
 public:
  explicit Resolver(loop::Loop& loop, ResolverOptions options = {});
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  ~Resolver();

  /// Returns the addresses of a host, best first; at least one.
  ///
  /// Waits for: the lookup, at most `limit`; one that takes longer continues for later callers.
  /// Ends with: TimedOut; NameNotResolved, also if no address is of ResolverOptions::family;
  ///            InvalidAddress if `host` is not a name; Overloaded if too many lookups are already
  ///            queued.
  /// RFC:       6761 §6.3 (localhost)
  Task<Result<Addresses, Problem>> resolve(std::string host, std::uint16_t port,
                                           net::TimeLimit limit);

  /// The number of names that are cached or being looked up.
  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }

 private:
  struct Name;
  class Asker;

  [[nodiscard]] std::optional<Addresses> known(std::string_view host, std::uint16_t port) const;
  [[nodiscard]] Result<Addresses, Problem> of_family(Addresses addresses,
                                                     const std::string& step) const;
  std::shared_ptr<Name> find_or_ask(const std::string& host);
  void ask(const std::string& host, const std::shared_ptr<Name>& name);
  void give_up(const std::string& host, Name& name);
  void make_room();

  loop::Loop& loop_;
  const ResolverOptions options_;
  // Shared with the waiters: a name may be forgotten before they resume.
  std::unordered_map<std::string, std::shared_ptr<Name>> names_;
  LookupThreads lookups_;
};

}  // namespace skua::sockets
