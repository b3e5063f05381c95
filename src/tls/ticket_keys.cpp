// SPDX-License-Identifier: MIT
// In: the time. Out: the keys of the current and the previous period; older ones are wiped.
#include "tls/ticket_keys.hpp"

#include <algorithm>
#include <string>

#include "crypto/random.hpp"

namespace skua::tls {
namespace {

// Volatile, so that the compiler cannot remove stores that are never read.
void wipe(void* memory, std::size_t size_bytes) noexcept {
  volatile auto* const bytes = static_cast<volatile unsigned char*>(memory);
  for (std::size_t i = 0; i < size_bytes; ++i) bytes[i] = 0;
}

Result<TicketKey> make_key() {
  TicketKey key;
  Result<std::string> random =
      crypto::random_bytes(key.name.size() + key.cipher.size() + key.authentication.size());
  if (!random) return random.error();
  auto from = random->begin();
  const auto fill = [&from](auto& part) {
    std::copy_n(from, part.size(), part.begin());
    from += static_cast<std::ptrdiff_t>(part.size());
  };
  fill(key.name);
  fill(key.cipher);
  fill(key.authentication);
  wipe(random->data(), random->size());
  return key;
}

}  // namespace

TicketKey::~TicketKey() { wipe(this, sizeof *this); }

// A key seals for one lifetime and opens for two.
void TicketKeys::expire(loop::Instant now) noexcept {
  if (current_ && now - current_->made_at >= lifetime_) {
    previous_ = current_;
    current_.reset();
  }
  if (previous_ && now - previous_->made_at >= 2 * lifetime_) previous_.reset();
}

Result<TicketKey> TicketKeys::sealing() {
  const std::lock_guard lock(mutex_);
  const loop::Instant now = clock_.now();
  expire(now);
  if (!current_) {
    const Result<TicketKey> fresh = make_key();
    if (!fresh) return fresh.error();
    current_ = Aged{*fresh, now};
  }
  return current_->key;
}

std::optional<TicketKeys::Found> TicketKeys::opening(std::span<const unsigned char, 16> name) {
  const std::lock_guard lock(mutex_);
  expire(clock_.now());
  const auto is_named = [&](const Aged& aged) { return std::ranges::equal(aged.key.name, name); };
  if (current_ && is_named(*current_)) return Found{current_->key, true};
  if (previous_ && is_named(*previous_)) return Found{previous_->key, false};
  return std::nullopt;
}

}  // namespace skua::tls
