// SPDX-License-Identifier: MIT
/// Include only in builds with OpenSSL.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tls/openssl.hpp"

namespace skua::tls {

/// A client's resumable sessions, the newest ones of each server. Thread-safe.
///
/// RFC:       8446 §2.2, §C.4; 5077
class SessionStore final {
 public:
  static constexpr std::size_t most = 256;          ///< beyond this the oldest is dropped
  static constexpr std::size_t max_per_server = 4;  ///< for connections opened in parallel

  SessionStore() = default;
  SessionStore(const SessionStore&) = delete;
  SessionStore& operator=(const SessionStore&) = delete;

  void keep(std::string_view server, SessionPointer session);
  /// Removes and returns the newest unexpired session of a server, or returns null. The caller
  /// stores it again if it may be offered twice and the server has accepted it.
  [[nodiscard]] SessionPointer take(std::string_view server);
  void forget(std::string_view server);
  [[nodiscard]] std::size_t size() const;

 private:
  struct Entry {
    std::string server{};
    SessionPointer session{};
  };

  mutable std::mutex mutex_;
  std::vector<Entry> entries_;  // oldest first
};

}  // namespace skua::tls
