// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/core.hpp"
#include "client/request_spec.hpp"
#include "client/wire/incoming_response.hpp"
#include "proxy/server_url.hpp"
#include "skua/address.hpp"
#include "skua/client_options.hpp"
#include "skua/error.hpp"
#include "skua/request.hpp"
#include "skua/reverse_proxy.hpp"
#include "skua/task.hpp"

namespace skua::proxy {

/// The head of a response, or why there is none.
using Fetched = Result<client::IncomingResponsePointer, Problem>;

/// How to reach an upstream server.
class Endpoint final {
 public:
  /// Ends with: std::invalid_argument if the TLS options cannot be used.
  Endpoint(const ServerUrl& server, const ReverseProxyOptions& options);

  [[nodiscard]] std::shared_ptr<client::Core> make_client(loop::Loop& loop) const;
  /// Returns a client that connects to this address, if there is one, instead of looking the name
  /// up. If it is for a `check`, connections are closed after it, nothing is counted, and it asks
  /// the port of the checks.
  [[nodiscard]] std::shared_ptr<client::Core> make_client(
      loop::Loop& loop, const std::optional<Address>& address,
      const UpstreamHealth* check = nullptr) const;
  /// The client's options, and what is in none of them.
  [[nodiscard]] const ClientOptions& options() const noexcept { return options_; }
  [[nodiscard]] ProxyProtocol proxy_protocol() const noexcept { return proxy_protocol_; }

 private:
  ClientOptions options_;
  ProxyProtocol proxy_protocol_;
  client::TlsContexts tls_;  // shared by the threads, as reading the trust store is slow
};

/// Those of a group.
using Endpoints = std::vector<Endpoint>;

/// Sends requests to one of several servers. Programs whose proxies have only one link none.
class Dispatcher {
 public:
  Dispatcher() = default;
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;
  virtual ~Dispatcher() = default;

  /// Each attempt changes the spec.
  ///
  /// Ends with: HttpError(503) if no server takes the request.
  /// Lifetime:  see forward(); the spec outlives the task.
  virtual Task<Fetched> fetch(Request& request, client::RequestSpec& spec) const = 0;
  /// See Upstream::base().
  [[nodiscard]] virtual const std::optional<std::string>& base() const noexcept = 0;
  /// See Upstream::is_http2().
  [[nodiscard]] virtual bool is_http2() const noexcept = 0;
};

/// The destination of the requests of a ReverseProxy: a server, or a dispatcher. It is shared by
/// all threads; each has connections of its own.
class Upstream final {
 public:
  /// Ends with: std::invalid_argument, see ReverseProxy.
  Upstream(std::string_view text, const ReverseProxyOptions& options);
  Upstream(std::unique_ptr<const Dispatcher> dispatcher, const ReverseProxyOptions& options);
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;
  ~Upstream() = default;

  [[nodiscard]] const ReverseProxyOptions& options() const noexcept { return options_; }
  /// The path that replaces the beginning of the request's, without a slash at its end; nullopt if
  /// the request's path is kept.
  [[nodiscard]] const std::optional<std::string>& base() const noexcept { return base_; }
  /// Reports whether the servers are known to speak HTTP/2, without negotiation.
  [[nodiscard]] bool is_http2() const noexcept { return is_http2_; }
  /// The name of this proxy in Via; unique, so that a request that comes back is known.
  [[nodiscard]] const std::string& pseudonym() const noexcept { return pseudonym_; }

  /// Sends a request, as client::fetch() does, with a spec that is lent.
  [[nodiscard]] Task<Fetched> fetch(Request& request, client::RequestSpec& spec) const;

 private:
  [[nodiscard]] std::shared_ptr<client::Core> client() const;

  ReverseProxyOptions options_;
  std::string pseudonym_;
  std::unique_ptr<const Dispatcher> dispatcher_;  // null: there is one server, the next
  std::shared_ptr<const Endpoint> server_;        // its clients tell by it that they are needed
  std::optional<std::string> base_;
  bool is_http2_ = false;
};

/// Adds the routes of reverse_proxy().
void add_routes(Router& router, const Prefix& prefix, const ReverseProxy& handler,
                Router::Where where);

/// Returns the client that a response belongs to. With it, the request counts as outstanding.
[[nodiscard]] std::shared_ptr<client::Core> client_of(const client::IncomingResponse& incoming);

}  // namespace skua::proxy
