// SPDX-License-Identifier: MIT
#pragma once

#include "http/message/field.hpp"
#include "http/message/request_parts.hpp"
#include "skua/trusted_proxies.hpp"

namespace skua::http {

/// Puts into `known` what a request's fields tell of its client, from the nearest proxy on to the
/// last one that is trusted. `known` has the connection's own facts; its peer is a trusted proxy.
///
/// The client is the first hop that is not trusted, or the last one of the list. A hop that is not
/// named, or malformed, ends the list. Host and scheme are those that the client used with the
/// proxy; of X-Forwarded-Host and -Proto, the last element holds.
/// RFC:       7239
void believe(const Head& head, const TrustedProxies& proxies, Origin& known);

}  // namespace skua::http
