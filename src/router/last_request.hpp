// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "skua/method.hpp"

namespace skua::router {

struct Route;

/// The request whose handler began last on a thread, for reports of crashes.
struct LastRequest {
  const Route* route = nullptr;  ///< null: none yet
  Method method{};
};

#if defined(_WIN32)
inline void keep_last_request(const Route&, Method) noexcept {}
#else
/// That of this thread. Two stores for each request, which nobody reads as long as all goes well.
inline thread_local constinit LastRequest last_request;

inline void keep_last_request(const Route& route, Method method) noexcept {
  last_request.route = &route;
  last_request.method = method;
}
#endif

}  // namespace skua::router
