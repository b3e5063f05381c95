// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "client/connector.hpp"
#include "h1/response_reader.hpp"
#include "loop/backend.hpp"
#include "skua/bytes.hpp"

namespace skua::cli::bench {

/// The parts of a request, for protocols that write it themselves.
struct RequestParts {
  Method method = Method::Get;
  std::string scheme{};
  std::string authority{};
  std::string path{};    ///< and query
  std::string fields{};  ///< complete lines
  std::string content{};
  bool has_content = false;
};

/// A load, ready to be made: what each request is, how many there are, and when they are due.
struct Plan {
  std::string shown_url{};  ///< without a password
  client::Origin origin{};
  client::ConnectOptions connect{};
  bool http2 = false;
  RequestParts parts{};
  std::string request{};  ///< of HTTP/1.1, as it stands on the wire, content included
  h1::ResponseTo expected{};

  BackendChoice backend = BackendChoice::Auto;
  std::size_t threads = 1;  ///< at most `connections`
  std::size_t connections = 64;
  std::size_t depth = 1;                    ///< requests under way on one connection
  std::optional<std::uint64_t> requests{};  ///< it ends after so many; nothing: after `duration`
  Duration duration = 10s;
  Duration warmup{};             ///< before, and not counted
  std::optional<double> rate{};  ///< requests due a second; nothing: as fast as they are answered
  Duration timeout = 10s;        ///< for a connection, and for an answer
};

/// One thread's part of a plan.
struct Share {
  std::size_t connections = 0;
  std::optional<std::uint64_t> requests{};
  std::optional<double> rate{};
  double offset = 0;  ///< of its first request, in its intervals: threads take turns
};

/// The part of the `index`-th thread; all parts together are the plan.
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
