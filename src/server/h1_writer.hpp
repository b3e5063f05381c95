// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "net/output_queue.hpp"
#include "server/date_cache.hpp"
#include "skua/response.hpp"

namespace skua::server {

/// How a response is framed: what the request and the connection decide, not the handler.
struct ResponseFraming {
  const DateCache& dated;
  bool is_head = false;    ///< the request was HEAD: the length, but no content
  bool is_http10 = false;  ///< the peer has to be told of keep-alive
  bool keep_alive = true;
};

/// Serialises a response; a large body is taken over instead of being copied, and of a stream the
/// head alone is written. Returns how many bytes of content were. RFC 9112 §6
std::uint64_t write_response(net::OutputQueue& output, Response&& response,
                             const ResponseFraming& framing);

}  // namespace skua::server
