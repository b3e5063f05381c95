// SPDX-License-Identifier: MIT
// The reason phrases of the registered status codes, RFC 9110 §15 and the IANA registry.
#include "skua/status.hpp"

#include "http/reason.hpp"

namespace skua {

std::string_view reason(Status status) noexcept { return http::reason_phrase(status); }

}  // namespace skua
