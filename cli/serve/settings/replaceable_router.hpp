// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "skua/router.hpp"

namespace skua::cli {

/// A router for a server that passes each request to another router, which can be replaced while
/// the server runs.
class ReplaceableRouter {
 public:
  explicit ReplaceableRouter(Router first);

  /// Requests that begin later go to `next`; those in progress end with the router they began with.
  /// Any thread.
  void replace(Router next);

  /// The router for the server, which lives as long as this object.
  [[nodiscard]] const Router& front() const noexcept { return front_; }

 private:
  class Current;
  class PassOn;

  std::shared_ptr<Current> current_;  // shared with the middleware of front_
  Router front_;
};

}  // namespace skua::cli
