// SPDX-License-Identifier: MIT
// In: a request. Out: where it comes from: what trusted proxies tell, or else the connection.
#include "http/message/request_parts.hpp"
#include "skua/request.hpp"

namespace skua {

http::Origin http::origin_of(const RequestParts& parts) {
  Origin origin{.is_secure = parts.is_secure};
  if (parts.origins != nullptr) {
    origin = parts.origins->origin_of(*parts.head, parts.peer_context);
  } else if (parts.peer != nullptr) {
    origin.client = parts.peer(parts.peer_context);
  }
  if (origin.host.empty()) origin.host = parts.host;
  return origin;
}

Address Request::client_address() const { return http::origin_of(*parts_).client; }

// Without trusted proxies, these two do not ask the system for the peer.

std::string_view Request::scheme() const {
  const bool is_secure =
      parts_->origins == nullptr ? parts_->is_secure : http::origin_of(*parts_).is_secure;
  return is_secure ? "https" : "http";
}

std::string_view Request::requested_host() const {
  return parts_->origins == nullptr ? parts_->host : http::origin_of(*parts_).host;
}

}  // namespace skua
