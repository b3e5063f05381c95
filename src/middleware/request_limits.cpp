// SPDX-License-Identifier: MIT
#include "skua/request_limits.hpp"

#include "http/message/request_parts.hpp"
#include "skua/http_error.hpp"
#include "skua/status.hpp"

namespace skua {

std::optional<Response> RequestLimiter::operator()(Request& request) const {
  http::RequestControl* const control = http::RequestAccess::parts(request).control;
  // Without one, there is neither content nor a handler that waits.
  if (control != nullptr && !control->limit(limits_)) throw HttpError(Status::ContentTooLarge);
  return std::nullopt;
}

}  // namespace skua
