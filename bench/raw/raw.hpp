// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>

/// The ceilings: servers that do not speak their protocol but answer as if they did.
///
/// Those of HTTP find where a head ends, answer every head with the same bytes, and parse nothing.
/// Their cost is that of the operating system; a real server adds the cost of its parser, router
/// and safety.
namespace bench::raw {

struct RawOptions {
  /// Numeric IPv4 address to listen on.
  std::string host = "127.0.0.1";
  /// Port to listen on; 0 lets the system choose one; the first line on stdout names it.
  std::uint16_t port = 0;
  /// Workers, each with its own loop and listener (SO_REUSEPORT if more than one).
  unsigned threads = 1;
};

/// Serves with level-triggered epoll until SIGTERM or SIGINT; returns the exit code.
int run_raw_epoll(const RawOptions& options);

/// Serves with io_uring until SIGTERM or SIGINT; returns the exit code (2 if not built in).
int run_raw_io_uring(const RawOptions& options);

/// Echoes WebSocket frames, with epoll, until SIGTERM or SIGINT; returns the exit code.
///
/// Every handshake is answered as if it contained `handshake_key` (frames.hpp).
int run_raw_ws(const RawOptions& options);

/// Echoes all bytes, with epoll, until SIGTERM or SIGINT; returns the exit code.
int run_raw_echo(const RawOptions& options);

/// Serves the connections of `listener` until `signals` becomes readable; returns false if it could
/// not run.
using Worker = std::function<bool(int listener, int signals)>;

/// Opens the listeners, prints the address, runs one worker per thread and returns the exit code.
int run_workers(const RawOptions& options, const Worker& worker);

/// Raises the limit of open files as far as the process may.
void allow_many_files();

}  // namespace bench::raw
