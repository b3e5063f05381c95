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

#include "client/lookup_threads.hpp"
#include "client/problem.hpp"
#include "loop/loop.hpp"
#include "net/address.hpp"
#include "skua/task.hpp"

namespace skua::client {

using Addresses = std::vector<net::Address>;

/// A host that is somewhere else than the rest of the world thinks.
struct HostOverride {
  std::string host{};
  std::uint16_t port = 0;  ///< of the requests that it is for; 0: every port
  net::Address address{};  ///< where it is; with port 0, or a Unix path: at that port, or path
};

struct ResolverOptions {
  Duration cache_time = 10s;              ///< an answer is used again; zero: never
  Duration failure_time = 1s;             ///< the same for a failure
  std::size_t cache_entries = 256;        ///< names that are remembered; zero: none
  std::vector<HostOverride> overrides{};  ///< looked at first, and the first that fits is taken
  LookupOptions lookups{};                ///< of what is asked outside
};

/// Finds the addresses of hosts without holding up its loop, each name once at a time.
///
/// Numeric addresses, `localhost` and overrides are answered at once, all else by LookupThreads:
/// a name server that does not answer holds up nobody but those who ask for its names.
/// Lifetime:  one loop; it outlives the tasks that resolve() gave. A lookup that it started may end
///            after it, and is then dropped.
class Resolver final {
 public:
  explicit Resolver(loop::Loop& loop, ResolverOptions options = {});
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  ~Resolver();

  /// The addresses of a host, the best first, at least one.
  ///
  /// Waits for: the lookup, at most `limit`; one that takes longer goes on for those who ask later.
  /// Ends with: TimedOut; NameNotResolved; InvalidAddress for what is no name; Overloaded where too
  ///            many names wait to be looked up.
  /// RFC:       6761 §6.3 (localhost)
  Task<Result<Addresses, Problem>> resolve(std::string host, std::uint16_t port, Duration limit);

  /// How many names are remembered or being looked up.
  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }

 private:
  struct Name;
  class Asker;

  [[nodiscard]] std::optional<Addresses> known(std::string_view host, std::uint16_t port) const;
  std::shared_ptr<Name> find_or_ask(const std::string& host);
  void ask(const std::string& host, const std::shared_ptr<Name>& name);
  void give_up(const std::string& host, Name& name);
  void make_room();

  loop::Loop& loop_;
  const ResolverOptions options_;
  // Shared with those who wait for an answer: the name may be forgotten before they go on.
  std::unordered_map<std::string, std::shared_ptr<Name>> names_;
  LookupThreads lookups_;
};

}  // namespace skua::client
