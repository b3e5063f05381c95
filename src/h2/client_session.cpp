// SPDX-License-Identifier: MIT
// The client's side, where there is one.
#include "h2/client_session.hpp"

#if defined(SKUA_HAS_HTTP2)
#include "h2/client_streams.hpp"
#endif

namespace skua::h2 {

#if defined(SKUA_HAS_HTTP2)

std::unique_ptr<ClientSession> make_client_session(const ClientSessionOptions& options,
                                                   ClientEvents& events, loop::Instant now) {
  return std::make_unique<ClientStreams>(options, events, now);
}

#else

std::unique_ptr<ClientSession> make_client_session(const ClientSessionOptions&, ClientEvents&,
                                                   loop::Instant) {
  return nullptr;
}

#endif

}  // namespace skua::h2
