// SPDX-License-Identifier: MIT
/// Included only where OpenSSL is there.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tls/openssl.hpp"

namespace skua::tls {

/// The sessions that a client may go on with, the newest of each server. All threads may share one.
///
/// RFC:       8446 §2.2, §C.4; 5077
class SessionStore final {
 public:
  static constexpr std::size_t most = 256;           ///< beyond them the oldest is forgotten
  static constexpr std::size_t most_per_server = 4;  ///< for connections that begin side by side

  SessionStore() = default;
  SessionStore(const SessionStore&) = delete;
  SessionStore& operator=(const SessionStore&) = delete;

  void keep(std::string_view server, SessionPointer session);
  /// The newest session of a server whose time is not over, or null. It is not kept any more:
  /// whoever offers it keeps it again where it may be offered twice, and where the server has taken
  /// it.
  [[nodiscard]] SessionPointer take(std::string_view server);
  void forget(std::string_view server);
  [[nodiscard]] std::size_t size() const;

 private:
  struct Entry {
    std::string server{};
    SessionPointer session{};
  };

  mutable std::mutex mutex_;
  std::vector<Entry> entries_;  // the newest is the last
};

}  // namespace skua::tls
