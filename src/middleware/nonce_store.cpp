// SPDX-License-Identifier: MIT
// Makes nonces, and tells whether a nonce count is used for the first time. Nonces evicted to make
// room count as used: memory is bounded, and no flood of nonces lets an old proof pass again.
#include "middleware/nonce_store.hpp"

#include <algorithm>

#include "base/base_encoding.hpp"
#include "crypto/digest.hpp"

namespace skua::middleware {
namespace {

constexpr std::size_t stamp_bytes = 8;
constexpr std::size_t signature_bytes = 16;
constexpr std::size_t max_shards = 16;
constexpr std::size_t min_shard_capacity = 1024;

std::string write_stamp(std::uint64_t stamp) {
  std::string bytes;
  for (unsigned shift = 64; shift != 0; shift -= 8) {
    bytes += static_cast<char>(stamp >> (shift - 8) & 0xffU);
  }
  return bytes;
}

std::uint64_t read_stamp(std::string_view bytes) noexcept {
  std::uint64_t stamp = 0;
  for (const char c : bytes) stamp = stamp << 8U | static_cast<unsigned char>(c);
  return stamp;
}

}  // namespace

NonceStore::NonceStore(std::string key, std::size_t capacity, Duration age,
                       const loop::Clock& clock, loop::Instant start)
    : key_(std::move(key)),
      age_(age),
      clock_(clock),
      start_(start),
      shard_count_(std::clamp<std::size_t>(capacity / min_shard_capacity, 1, max_shards)),
      shard_capacity_(std::max<std::size_t>(capacity / shard_count_, 1)),
      shards_(std::make_unique<Shard[]>(shard_count_)) {}

std::uint64_t NonceStore::now() const noexcept {
  return static_cast<std::uint64_t>((clock_.now() - start_).count());
}

Result<std::string> NonceStore::sign(std::string_view stamp) const {
  auto signature = crypto::hmac(crypto::Hash::Sha256, key_, stamp);
  if (signature) signature->resize(signature_bytes);
  return signature;
}

Result<std::string> NonceStore::make() {
  // A stamp is the current time, made unique.
  std::uint64_t last = last_stamp_.load(std::memory_order_relaxed);
  std::uint64_t stamp = 0;
  do {
    stamp = std::max(now(), last + 1);
  } while (!last_stamp_.compare_exchange_weak(last, stamp, std::memory_order_relaxed));
  std::string nonce = write_stamp(stamp);
  const auto signature = sign(nonce);
  if (!signature) return signature.error();
  return base64::encode(nonce.append(*signature), base64::Alphabet::Url);
}

std::optional<std::uint64_t> NonceStore::verify(std::string_view nonce) const {
  const auto bytes = base64::decode(nonce, base64::Alphabet::Url);
  if (!bytes || bytes->size() != stamp_bytes + signature_bytes) return std::nullopt;
  const std::string_view stamp = std::string_view(*bytes).substr(0, stamp_bytes);
  const auto signature = sign(stamp);
  if (!signature || !crypto::equals(*signature, std::string_view(*bytes).substr(stamp_bytes))) {
    return std::nullopt;
  }
  return read_stamp(stamp);
}

NonceStore::Use NonceStore::use(std::string_view nonce, std::uint32_t count) {
  const auto stamp = verify(nonce);
  const std::uint64_t time = now();
  // A stamp may be slightly ahead of the clock if many were made at once.
  if (!stamp || (time > *stamp && time - *stamp > static_cast<std::uint64_t>(age_.count()))) {
    return Use::Stale;
  }
  Shard& shard = shards_[*stamp % shard_count_];
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.counts.find(*stamp);
  if (found != shard.counts.end()) return found->second.add(count) ? Use::Fresh : Use::Replayed;
  if (*stamp <= shard.horizon) return Use::Stale;
  if (shard.order.size() < shard_capacity_) {
    shard.order.push_back(*stamp);
  } else {
    std::uint64_t& place = shard.order[shard.oldest];
    shard.oldest = (shard.oldest + 1) % shard_capacity_;
    shard.horizon = std::max(shard.horizon, place);
    shard.counts.erase(place);
    place = *stamp;
  }
  shard.counts[*stamp].add(count);
  return Use::Fresh;
}

bool NonceStore::Counts::add(std::uint32_t count) noexcept {
  constexpr std::uint32_t window = 64;
  if (count > highest) {
    const std::uint32_t ahead = count - highest;
    seen = (ahead < window ? seen << ahead : 0) | 1U;
    highest = count;
    return true;
  }
  const std::uint32_t behind = highest - count;
  if (behind >= window || (seen >> behind & 1U) != 0) return false;
  seen |= std::uint64_t{1} << behind;
  return true;
}

}  // namespace skua::middleware
