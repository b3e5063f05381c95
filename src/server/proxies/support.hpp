// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "http/message/request_parts.hpp"
#include "net/stream.hpp"
#include "skua/address.hpp"
#include "sockets/acceptor.hpp"

namespace skua::server {
struct Resources;
}  // namespace skua::server

namespace skua::detail {

/// Takes the PROXY headers from the connections of one thread.
class ProxyHeaderReader : public sockets::StreamWrapper {
 public:
  /// Calls the hook on_connection_open: the client of a connection is known now.
  virtual void tell_open(const net::Stream& connection) const = 0;
};

/// The part of a server that serves TrustedProxies. Only that makes such an object, so that other
/// programs do not link the code behind it.
class ProxySupport : public http::OriginSource {
 public:
  ProxySupport() = default;
  ProxySupport(const ProxySupport&) = delete;
  ProxySupport& operator=(const ProxySupport&) = delete;
  virtual ~ProxySupport() = default;

  /// Reports whether the address is in one of the rules' networks.
  [[nodiscard]] virtual bool is_listed(const Address& address) const noexcept = 0;
  /// Reports whether a connection from this address may be served.
  [[nodiscard]] virtual bool admits(const Address& peer) const noexcept = 0;
  /// Makes the connections and requests of one thread obey the proxies' rules. Returns what takes
  /// PROXY headers, which has to outlive the connections; null if there are none.
  [[nodiscard]] virtual std::unique_ptr<sockets::StreamWrapper> join(
      server::Resources& resources, sockets::Acceptor& acceptor) const = 0;
};

}  // namespace skua::detail
