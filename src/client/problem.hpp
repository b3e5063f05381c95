// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "skua/bytes.hpp"
#include "skua/error.hpp"
#include "skua/method.hpp"
#include "skua/url.hpp"

namespace skua::client {

/// Returns the step of a request, `get http://example.com/a?b`, without userinfo and fragment.
std::string step_of(Method method, const Url& url);

/// Describes an error, in the operating system's words if we have none.
std::string reason_of(Error error);
/// Returns a URL as it was given, but without anything that may be a password.
std::string without_userinfo(std::string_view url);

/// Returns `could not connect to example.com:443: the connection was refused`.
Problem could_not(const std::string& step, Error error);
/// Like the above, with the given reason.
Problem could_not(const std::string& step, Error error, const std::string& reason);
/// A time limit that was reached, and what was missing by then.
struct TimeLimit {
  Duration time{};
  const char* name = "";  ///< in the API: `ClientTimeouts::head`
  const char* missing = "no answer";
};
/// Returns `could not connect to a:443: no answer within 10 s (ClientTimeouts::connect)`.
Problem timed_out(const std::string& step, const TimeLimit& limit);
/// Converts an exception that no caller can catch. Unknown types become Cancelled.
Problem problem_of(const std::exception_ptr& thrown);
/// Explains why a program's URL is malformed, even if it looks right.
Problem not_a_url(const std::string& step, std::string_view url, Error error);

}  // namespace skua::client
