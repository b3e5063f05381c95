// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// The optimisation ladder of docs/ladder.md: the same small server, written eight times.
///
/// This header is what does not change from rung to rung: limits, refusals, and how a socket begins
/// and ends.
namespace ladder {

/// The longest head, from its first byte to the empty line. Bytes of the body don't count.
inline constexpr std::size_t max_head_bytes = std::size_t{64} * 1024;
inline constexpr std::size_t max_body_bytes = std::size_t{10} * 1024 * 1024;

/// The answer to a GET. A POST is answered with the number of bytes of its body.
inline constexpr std::string_view hello = "Hello, World!";

/// Asks a client that announced `Expect: 100-continue` for the body (RFC 9110 §10.1.1).
inline constexpr std::string_view please_continue = "HTTP/1.1 100 Continue\r\n\r\n";

enum class Status : std::uint8_t {
  Ok,
  BadRequest,
  MethodNotAllowed,
  ContentTooLarge,
  HeadTooLarge,
  NotImplemented,
  VersionNotSupported,
};

/// Returns the whole answer to a request that is refused. The connection has to be closed after it.
std::string refusal(Status why);

/// Returns the port on the command line, `PROGRAM [PORT]`; by default 8080.
std::uint16_t port_argument(int count, char** arguments);

/// Returns a socket that listens on 127.0.0.1; port 0 means any free one. Ends the program if it
/// cannot. Several sockets can listen on one port if all of them say that it is `shared`.
int open_listener(std::uint16_t port, bool shared = false);

std::uint16_t port_of(int listener);

/// Prints the address on stdout.
void announce(int listener);

/// Waits for a connection; reading from it fails after five seconds without a byte.
int accept_connection(int listener);

/// Closes a connection so that the peer can still read the answer.
///
/// If bytes of the peer are unread, or still arrive, when a socket is closed, the system sends a
/// reset, and a reset destroys what the peer has not read yet. So this says that nothing more will
/// be sent, and reads what still comes, for two seconds at most.
void close_gently(int fd);

}  // namespace ladder
