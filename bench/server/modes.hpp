// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bench {

/// Command line options of skua-bench-server.
struct ServerOptions {
  std::string mode;
  /// Folder served by `files`.
  std::string folder = ".";
  std::string host = "127.0.0.1";
  /// 0 lets the system choose a port.
  std::uint16_t port = 0;
  unsigned threads = 1;
  /// auto, epoll, io_uring, kqueue or poll.
  std::string backend = "auto";
  /// PEM files; empty means no TLS.
  std::string tls_cert;
  std::string tls_key;
  bool metrics = false;
};

/// A workload. `run` prints `listening on ...`, serves until SIGTERM or SIGINT, and returns the
/// exit code.
struct Mode {
  std::string_view name;
  std::string_view summary;
  int (*run)(const ServerOptions& options);
};

/// Returns the modes that skua itself serves.
[[nodiscard]] std::span<const Mode> skua_modes();

}  // namespace bench
