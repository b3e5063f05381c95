// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crypto/aead.hpp"
#include "skua/session.hpp"

namespace skua::middleware {

/// The implementation of Sessions. Thread-safe.
///
/// A cookie is the base64url encoding of
///
///     +--- 1 ---+--- 4 ---+--- 12 ---+-----------+--- 16 ---+
///     | version | key id  |  nonce   | encrypted |   tag    |
///     +---------+---------+----------+-----------+----------+
///
/// The encrypted part is big-endian, with the first five bytes and the cookie's name as associated
/// data:
///
///     +--- 8 ----+--- 8 ---+--- 8 ---+- 16 -+----- 2 -----+----- 2 ------+------+-------+-
///     | sealed at| expires | begun   |  id  | size of name| size of value| name | value | ...
///     +----------+---------+---------+------+-------------+--------------+------+-------+-
class SessionKeeper final {
 public:
  using WallClock = std::function<std::chrono::sys_seconds()>;

  /// Ends with: std::invalid_argument, see sessions().
  SessionKeeper(SessionOptions options, WallClock clock);

  /// Attaches the session to the request.
  void open(Request& request) const;
  /// Sets the cookie if the session changed or is due for renewal.
  void save(const Request& request, Response& response) const;

 private:
  struct Key {
    std::string id;
    crypto::Aead aead;
  };

  [[nodiscard]] bool read(std::string_view cookie, std::chrono::sys_seconds now,
                          Session& session) const;
  [[nodiscard]] bool read_plain(std::string_view plain, std::chrono::sys_seconds now,
                                Session& session) const;
  [[nodiscard]] std::string write(const Session& session, std::chrono::sys_seconds now,
                                  std::chrono::seconds age) const;

  SessionOptions options_;
  WallClock clock_;
  std::vector<Key> keys_;
  std::size_t max_bytes_;  // limit on the stored names and values
};

}  // namespace skua::middleware
