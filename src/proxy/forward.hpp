// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "proxy/upstream.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"

namespace skua::proxy {

/// Passes a request on, and returns the response of the upstream server. `rest` is the end of the
/// request's path that a base does not replace.
///
/// Ends with: HttpError with 502 or 504 and the reason.
/// Lifetime:  `upstream` outlives the response, `request` as a request of a coroutine handler.
Task<Response> forward(const Upstream& upstream, Request& request, std::string_view rest);

}  // namespace skua::proxy
