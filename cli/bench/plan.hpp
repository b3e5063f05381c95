// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "client/connect/connector.hpp"
#include "h1/response_reader.hpp"
#include "loop/backend.hpp"
#include "skua/bytes.hpp"

namespace skua::cli::bench {

/// The parts of a request, for protocols that write it themselves.
struct RequestParts {
  Method method = Method::Get;
  std::string scheme{};
  std::string authority{};
  std::string path{};    ///< with the query
  std::string fields{};  ///< complete lines
  std::string content{};
  bool has_content = false;
};

/// A complete load test: the request, how many are sent, and when they are due.
struct Plan {
  std::string shown_url{};  ///< without a password
  client::Origin origin{};
  client::ConnectOptions connect{};
  bool http2 = false;
  RequestParts parts{};
  std::string request{};  ///< the HTTP/1.1 wire format, with the content
  h1::ResponseTo expected{};

  BackendChoice backend = BackendChoice::Auto;
  std::size_t threads = 1;  ///< at most `connections`
  std::size_t connections = 64;
  std::size_t depth = 1;                    ///< requests in flight per connection
  std::optional<std::uint64_t> requests{};  ///< send this many; nullopt: run for `duration`
  Duration duration = 10s;
  Duration warmup{};             ///< runs first, and is not counted
  std::optional<double> rate{};  ///< requests due per second; nullopt: as fast as answered
  Duration timeout = 10s;        ///< for connecting, and for each response
};

/// One thread's share of a plan.
struct Share {
  std::size_t connections = 0;
  std::optional<std::uint64_t> requests{};
  std::optional<double> rate{};
  double offset = 0;  ///< of its first request, in intervals, so that threads take turns
};

/// Returns the share of thread `index`; all shares add up to the plan.
inline Share share_of(const Plan& plan, std::size_t index) noexcept {
  const auto part = [&](std::uint64_t whole) {
    return whole / plan.threads + (index < whole % plan.threads ? 1 : 0);
  };
  Share share;
  share.connections = part(plan.connections);
  if (plan.requests) share.requests = part(*plan.requests);
  const auto threads = static_cast<double>(plan.threads);
  if (plan.rate) share.rate = *plan.rate / threads;
  share.offset = static_cast<double>(index) / threads;
  return share;
}

}  // namespace skua::cli::bench
