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
/// A limit of time that was reached, and what had not come by then.
struct TimeLimit {
  Duration time{};
  const char* name = "";  ///< as programs know it: `ClientTimeouts::head`
  const char* missing = "no answer";
};
/// `could not connect to a:443: no answer within 10 s (ClientTimeouts::connect)`.
Problem timed_out(const std::string& step, const TimeLimit& limit);
/// The same for what was thrown where nobody can catch it: of ours, what it says; else Cancelled.
Problem problem_of(const std::exception_ptr& thrown);
/// What is wrong with a URL of a program's, for whom it looks right.
Problem not_a_url(const std::string& step, std::string_view url, Error error);

}  // namespace skua::client
