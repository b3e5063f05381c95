// SPDX-License-Identifier: MIT
#pragma once

#include "client/authorization.hpp"
#include "client/proxy.hpp"

namespace skua::client {

/// A proxy as one client uses it: its address, and the state of authentication to it.
///
/// Lifetime:  one loop.
class ProxyAccess final {
 public:
  explicit ProxyAccess(Proxy proxy);
  ProxyAccess(const ProxyAccess&) = delete;
  ProxyAccess& operator=(const ProxyAccess&) = delete;

  [[nodiscard]] const Proxy& proxy() const noexcept { return proxy_; }
  [[nodiscard]] Authorization& authorization() noexcept { return authorization_; }

 private:
  const Proxy proxy_;
  Authorization authorization_;
};

}  // namespace skua::client
