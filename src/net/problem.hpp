// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "skua/address.hpp"
#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"

namespace skua::net {

/// Describes an error, in the operating system's words if we have none.
std::string reason_of(Error error);
/// Returns `could not connect to example.com:443: the connection was refused`.
Problem could_not(const std::string& step, Error error);
/// Like the above, with the given reason.
Problem could_not(const std::string& step, Error error, const std::string& reason);
/// A time limit that was reached, and what was missing by then.
struct TimeLimit {
  Duration time{};
  const char* name = "";  ///< in the API: `ClientTimeouts::head`; empty: none
  const char* missing = "no answer";
};
/// Returns `could not connect to a:443: no answer within 10 s (ClientTimeouts::connect)`.
Problem timed_out(const std::string& step, const TimeLimit& limit);
/// Returns `could not connect to 127.0.0.1:80: the connection was refused (Connection refused)`.
[[nodiscard]] Problem could_not(const char* step, std::string_view object, Error error);
[[nodiscard]] Problem could_not(const char* step, const Address& address, Error error);
/// Returns `could not listen on 127.0.0.1:80: ...`, and what to do about it.
[[nodiscard]] SKUA_COLD Problem could_not_listen(const Address& address, Error error);

}  // namespace skua::net
