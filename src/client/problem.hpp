// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "net/problem.hpp"
#include "skua/error.hpp"
#include "skua/url.hpp"

namespace skua::client {

using net::could_not;
using net::reason_of;
using net::timed_out;

/// Returns the step of a request, `get http://example.com/a?b`, without userinfo, fragment and
/// secrets.
std::string step_of(std::string_view method, const Url& url);

/// Returns a URL as it was given, but without anything that may be a password.
std::string without_userinfo(std::string_view url);

/// Converts an exception that no caller can catch. Unknown types become Cancelled.
Problem problem_of(const std::exception_ptr& thrown);
/// Explains why a program's URL is malformed, even if it looks right.
Problem not_a_url(const std::string& step, std::string_view url, Error error);

}  // namespace skua::client
