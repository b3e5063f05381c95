// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "loop/loop.hpp"
#include "proxy/balance.hpp"
#include "proxy/group.hpp"
#include "proxy/upstream.hpp"
#include "skua/async.hpp"
#include "skua/task.hpp"
#include "sockets/resolver.hpp"

namespace skua::proxy {

/// The work for a group that no request waits for: checks of its members, and lookups of its names.
/// One loop does it at a time; if that ends, the next one that passes a request on takes over.
///
/// Lifetime:  one loop's. It does nothing more once the endpoints, and so their user, are gone.
class Upkeep final {
 public:
  /// Group::take_over_upkeep() has succeeded.
  Upkeep(loop::Loop& loop, std::shared_ptr<Group> group, std::weak_ptr<const Endpoints> endpoints);
  Upkeep(const Upkeep&) = delete;
  Upkeep& operator=(const Upkeep&) = delete;
  ~Upkeep();

 private:
  class Term;

  Task<> check_all();
  Task<> check(std::shared_ptr<Member> member, std::shared_ptr<client::Core> client,
               ProxyProtocol proxy_protocol);
  void check_new();
  Task<> look_up(std::size_t target);
  void give_up() noexcept;
  [[nodiscard]] Duration around(Duration time) noexcept;

  loop::Loop& loop_;
  const std::shared_ptr<Group> group_;  // shared with requests
  const std::weak_ptr<const Endpoints> endpoints_;
  Draw draw_;
  sockets::Resolver resolver_;
  bool is_over_ = false;
  bool lacks_means_ = false;  // for checks; it has been logged
  Scope tasks_;
};

}  // namespace skua::proxy
