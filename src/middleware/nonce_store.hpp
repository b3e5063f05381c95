// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "loop/clock.hpp"
#include "skua/bytes.hpp"
#include "skua/error.hpp"

namespace skua::middleware {

/// Nonces for Digest authentication. They are signed, so that unused ones cost no memory; those in
/// use are stored with their counts, up to a fixed number. Thread-safe.
class NonceStore final {
 public:
  enum class Use : std::uint8_t {
    Fresh,     ///< valid, and this count was not used before
    Stale,     ///< expired, evicted, or signed with another key
    Replayed,  ///< this count was used, or is too far behind the highest one
  };

  /// `key` signs the nonces. Their stamps count from `start`, so that they need not reveal the
  /// machine's uptime. The clock must outlive the store.
  NonceStore(std::string key, std::size_t capacity, Duration age, const loop::Clock& clock,
             loop::Instant start);

  /// Makes a new nonce: 32 characters of base64url.
  ///
  ///     +---- 8 ----+--------- 16 ---------+
  ///     | stamp, ns |  HMAC of the stamp   |
  ///     +-----------+----------------------+
  ///
  /// Ends with: Unsupported without OpenSSL.
  Result<std::string> make();

  /// Uses up one count of a nonce. Call this only after the client has proven the password, so that
  /// nobody else can fill the memory.
  Use use(std::string_view nonce, std::uint32_t count);

 private:
  // Counts may arrive out of order over parallel connections.
  struct Counts {
    std::uint32_t highest = 0;
    std::uint64_t seen = 0;  // bit n: highest - n
    bool add(std::uint32_t count) noexcept;
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, Counts> counts;
    std::vector<std::uint64_t> order;  // a ring of stamps: the oldest is overwritten
    std::size_t oldest = 0;
    std::uint64_t horizon = 0;  // the newest evicted stamp: anything up to it is stale
  };

  [[nodiscard]] std::uint64_t now() const noexcept;
  [[nodiscard]] Result<std::string> sign(std::string_view stamp) const;
  [[nodiscard]] std::optional<std::uint64_t> verify(std::string_view nonce) const;

  std::string key_;
  Duration age_;
  const loop::Clock& clock_;
  loop::Instant start_;
  std::atomic<std::uint64_t> last_stamp_{0};
  std::size_t shard_count_;
  std::size_t shard_capacity_;
  std::unique_ptr<Shard[]> shards_;
};

}  // namespace skua::middleware
