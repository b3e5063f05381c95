// SPDX-License-Identifier: MIT
// Whether there is an HTTP/2 at all: the only place where a build without nghttp2 differs for its
// users.
#include "h2/session.hpp"

#if defined(SKUA_HAS_HTTP2)
#include "h2/server_session.hpp"
#endif

namespace skua::h2 {

#if defined(SKUA_HAS_HTTP2)

bool is_available() noexcept { return true; }

std::unique_ptr<Session> make_server_session(const SessionOptions& options, Events& events,
                                             loop::Instant now) {
  return std::make_unique<ServerSession>(options, events, now);
}

#else

bool is_available() noexcept { return false; }

std::unique_ptr<Session> make_server_session(const SessionOptions&, Events&, loop::Instant) {
  return nullptr;
}

#endif

}  // namespace skua::h2
