// SPDX-License-Identifier: MIT
#pragma once

#include "skua/error.hpp"
#include "skua/status.hpp"

namespace skua::cli {

// Exit codes of every command.
inline constexpr int succeeded = 0;
inline constexpr int failed = 1;         ///< a runtime failure; stderr says what to do
inline constexpr int misunderstood = 2;  ///< the command line is wrong

// More exit codes of `skua get` and its siblings, one for each kind of failure.

inline constexpr int redirected = 3;      ///< with --fail: a redirect that was not followed
inline constexpr int client_refused = 4;  ///< with --fail: a 4xx status
inline constexpr int server_failed = 5;   ///< with --fail: a 5xx status
inline constexpr int not_resolved = 6;    ///< the host name has no address
inline constexpr int not_connected = 7;   ///< the connection failed
inline constexpr int tls_failed = 8;      ///< the TLS handshake or a certificate failed
inline constexpr int timed_out = 9;
inline constexpr int protocol_failed = 10;  ///< a malformed, truncated or too large response
inline constexpr int file_failed = 11;      ///< a file cannot be read or written
inline constexpr int interrupted = 130;     ///< Ctrl-C

/// Returns the exit code of a failed request.
int exit_code_of(Errc code) noexcept;
/// Returns the exit code of a response's status, for --fail and downloads.
int exit_code_of(Status status) noexcept;

}  // namespace skua::cli
