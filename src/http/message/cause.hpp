// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "skua/error.hpp"
#include "skua/response.hpp"

namespace skua::http {

/// The trace that a request belongs to, for lines of logs; attached by middleware.
struct TraceTag {
  std::string trace_id{};
};

/// Reports whether the error is a fault of this machine or of one behind it, which somebody has to
/// mend, and that nobody else has told the log of.
bool is_fault(const Error& error) noexcept;

/// Keeps the cause of a response in its content, which is a text: the server logs it, and the peer
/// does not see it. Content that replaces the text drops it.
void keep_cause(Response& response, std::string cause);

/// Returns the cause of a response; empty if there is none.
std::string_view cause_of(Response& response) noexcept;

/// Returns the response to a request for which this operation failed: the status of the code, and
/// the cause of a fault.
Response failure_response(Error error);

}  // namespace skua::http
