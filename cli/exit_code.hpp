// SPDX-License-Identifier: MIT
#pragma once

#include "skua/error.hpp"
#include "skua/status.hpp"

namespace skua::cli {

/// What a command returns to the shell.
inline constexpr int succeeded = 0;
inline constexpr int failed = 1;         ///< the world did not cooperate; stderr says what to do
inline constexpr int misunderstood = 2;  ///< the command line makes no sense

// What `skua get` and its siblings return beside those: which kind of failure it was.

inline constexpr int redirected = 3;      ///< with --fail: a redirect that was not followed
inline constexpr int client_refused = 4;  ///< with --fail: a status of 4xx
inline constexpr int server_failed = 5;   ///< with --fail: a status of 5xx
inline constexpr int not_resolved = 6;    ///< the name has no address
inline constexpr int not_connected = 7;   ///< nobody answers there
inline constexpr int tls_failed = 8;      ///< TLS: the handshake, a certificate
inline constexpr int timed_out = 9;
inline constexpr int protocol_failed =
    10;                                  ///< a response that may not be so, or is cut, or too long
inline constexpr int file_failed = 11;   ///< what the file system does not let us do
inline constexpr int interrupted = 130;  ///< Ctrl-C

/// For what came in the way of a response.
int exit_code_of(Errc code) noexcept;
/// For a status that counts.
int exit_code_of(Status status) noexcept;

}  // namespace skua::cli
