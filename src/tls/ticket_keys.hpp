// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>

#include "loop/clock.hpp"
#include "skua/bytes.hpp"
#include "skua/error.hpp"

namespace skua::tls {

/// A key that encrypts session tickets. RFC 5077 §4
struct TicketKey {
  std::array<unsigned char, 16> name{};
  std::array<unsigned char, 32> cipher{};          ///< AES-256-CBC
  std::array<unsigned char, 32> authentication{};  ///< HMAC-SHA256

  TicketKey() = default;
  TicketKey(const TicketKey&) = default;
  TicketKey& operator=(const TicketKey&) = default;
  ~TicketKey();  // wipes
};

/// A server's ticket keys, shared by all threads and across reloads: the current one seals, and the
/// previous one still opens. A stolen key exposes no more past traffic than these two cover.
class TicketKeys {
 public:
  /// `clock` outlives the keys.
  TicketKeys(Duration lifetime, const loop::Clock& clock) noexcept
      : lifetime_(lifetime), clock_(clock) {}
  TicketKeys(const TicketKeys&) = delete;
  TicketKeys& operator=(const TicketKeys&) = delete;

  /// Returns the key to seal with, replacing an expired one.
  /// Ends with: the errors of random_bytes.
  [[nodiscard]] Result<TicketKey> sealing();

  struct Found {
    TicketKey key;
    bool is_current = true;  ///< if false, the client should get a new ticket
  };
  /// Returns the key with this name unless it has expired.
  [[nodiscard]] std::optional<Found> opening(std::span<const unsigned char, 16> name);

  [[nodiscard]] Duration lifetime() const noexcept { return lifetime_; }

 private:
  struct Aged {
    TicketKey key;
    loop::Instant made_at;
  };
  void expire(loop::Instant now) noexcept;

  const Duration lifetime_;
  const loop::Clock& clock_;
  std::mutex mutex_;
  std::optional<Aged> current_;
  std::optional<Aged> previous_;
};

}  // namespace skua::tls
