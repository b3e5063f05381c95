// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bench {

/// What the command line of skua-bench-server says.
struct ServerOptions {
  std::string mode;
  /// What `files` serves.
  std::string folder = ".";
  std::string host = "127.0.0.1";
  /// 0 lets the system pick a port.
  std::uint16_t port = 0;
  unsigned threads = 1;
  /// auto, epoll, io_uring or poll.
  std::string backend = "auto";
  /// PEM files; empty means no TLS.
  std::string tls_cert;
  std::string tls_key;
};

/// A way to serve: prints the line `listening on ...`, serves until SIGTERM or SIGINT, returns the
/// exit code.
struct Mode {
  std::string_view name;
  std::string_view summary;
  int (*run)(const ServerOptions& options);
};

/// The modes that skua itself serves.
[[nodiscard]] std::span<const Mode> skua_modes();

}  // namespace bench
