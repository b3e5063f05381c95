// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstdint>
#include <optional>
#include <string_view>

namespace skua {

/// The operating system interface that drives a loop.
enum class BackendChoice : std::uint8_t {
  Auto,            ///< the best one that this machine supports
  Epoll,           ///< Linux
  IoUring,         ///< Linux 6.1 or newer, if the container allows it
  Poll,            ///< any POSIX system, and Windows
  Kqueue,          ///< macOS and the BSDs
  CompletionPort,  ///< Windows
};

/// Returns the back end's name as `skua serve --backend` takes it: `io_uring`.
constexpr std::string_view to_string(BackendChoice backend) noexcept {
  switch (backend) {
    case BackendChoice::Auto: return "auto";
    case BackendChoice::Epoll: return "epoll";
    case BackendChoice::IoUring: return "io_uring";
    case BackendChoice::Poll: return "poll";
    case BackendChoice::Kqueue: return "kqueue";
    case BackendChoice::CompletionPort: return "iocp";
  }
  return "";
}

/// Returns the back end with this to_string() name; nullopt for any other name.
constexpr std::optional<BackendChoice> parse_backend(std::string_view name) noexcept {
  using enum BackendChoice;
  for (const BackendChoice backend : {Auto, Epoll, IoUring, Poll, Kqueue, CompletionPort}) {
    if (to_string(backend) == name) return backend;
  }
  return std::nullopt;
}

}  // namespace skua
