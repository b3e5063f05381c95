// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "net/output_queue.hpp"
#include "server/date_cache.hpp"
#include "skua/response.hpp"

namespace skua::server {

/// The framing of a response, as decided by the request and the connection, not by the handler.
struct ResponseFraming {
  const DateCache& dated;
  bool is_head = false;    ///< the request was HEAD: send the length, but no content
  bool is_http10 = false;  ///< keep-alive must be announced to the peer
  bool keep_alive = true;
};

/// Serializes a response. A large body is moved instead of copied; for a stream, only the head is
/// written. Returns the number of content bytes written. RFC 9112 §6
std::uint64_t write_response(net::OutputQueue& output, Response&& response,
                             ResponseFraming framing);

}  // namespace skua::server
