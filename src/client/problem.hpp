// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "skua/bytes.hpp"
#include "skua/error.hpp"
#include "skua/method.hpp"
#include "skua/url.hpp"

namespace skua::client {

/// `get http://example.com/a?b`: the step of a request, without a password and a fragment.
std::string step_of(Method method, const Url& url);

/// What went wrong, in words: the operating system's where we have none.
std::string reason_of(Error error);
/// A URL as it was given, for problems with it: without what may be a password.
std::string without_userinfo(std::string_view url);

/// `could not connect to example.com:443: the connection was refused`.
Problem could_not(const std::string& step, Error error);
/// The same where the reason is told already.
Problem could_not(const std::string& step, Error error, const std::string& reason);
/// `could not connect to example.com:443: no answer within 10 s`.
Problem timed_out(const std::string& step, Duration limit);

}  // namespace skua::client
