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

/// A secret that session tickets are sealed with. RFC 5077 §4
struct TicketKey {
  std::array<unsigned char, 16> name{};
  std::array<unsigned char, 32> cipher{};          ///< AES-256-CBC
  std::array<unsigned char, 32> authentication{};  ///< HMAC-SHA256

  TicketKey() = default;
  TicketKey(const TicketKey&) = default;
  TicketKey& operator=(const TicketKey&) = default;
  ~TicketKey();  // wipes
};

/// The ticket keys of a server, for all its threads and over reloads: one that seals, and the one
/// before it, which still opens. Who steals a key can read the past only as far back as these two.
class TicketKeys {
 public:
  /// `clock` outlives the keys.
  TicketKeys(Duration lifetime, const loop::Clock& clock) noexcept
      : lifetime_(lifetime), clock_(clock) {}
  TicketKeys(const TicketKeys&) = delete;
  TicketKeys& operator=(const TicketKeys&) = delete;

  /// The key to seal with; a new one when the current one has had its time.
  /// Ends with: what random_bytes ends with.
  [[nodiscard]] Result<TicketKey> sealing();

  struct Found {
    TicketKey key;
    bool is_current = true;  ///< otherwise the client ought to get a new ticket
  };
  /// The key of this name, unless its time is over.
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
