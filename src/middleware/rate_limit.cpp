// SPDX-License-Identifier: MIT
// In: a request. Out: 429 if its client sends too many, and for every response the fields that tell
// the client its remaining quota.
#include "middleware/rate_limit.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>

#include "skua/middleware.hpp"

namespace skua {

middleware::RateTable::Settings middleware::rate_settings(const RateLimitOptions& options) {
  constexpr std::size_t max_keys = std::size_t{1} << 30U;  // 16 GiB of them
  if (options.requests == 0 || options.per <= Duration::zero()) {
    throw std::invalid_argument("rate_limit: requests and per must be positive");
  }
  if (options.max_keys == 0 || options.max_keys > max_keys) {
    throw std::invalid_argument("rate_limit: max_keys is zero or too large");
  }
  const auto per = static_cast<std::uint64_t>(options.per.count());
  const std::uint64_t interval = std::max<std::uint64_t>(per / options.requests, 1);
  const std::size_t burst = options.burst == 0 ? options.requests : options.burst;
  if (burst > std::numeric_limits<std::int64_t>::max() / 4 / interval) {
    throw std::invalid_argument("rate_limit: the burst is too large");
  }
  return {.interval = Duration(static_cast<Duration::rep>(interval)),
          .burst = burst,
          .max_keys = options.max_keys};
}

namespace {

using middleware::RateTable;
using middleware::RateVerdict;

std::shared_ptr<RateTable> make_table(const RateLimitOptions& options) {
  static const loop::SteadyClock clock;
  return std::make_shared<RateTable>(middleware::rate_settings(options), clock);
}

// Formats a structured-field String (RFC 9651 §3.3.3).
std::string quoted(std::string_view name) {
  const bool is_plain = std::all_of(name.begin(), name.end(), [](char c) {
    return c >= ' ' && c < '\x7f' && c != '"' && c != '\\';
  });
  if (!is_plain) throw std::invalid_argument("rate_limit: the policy is not plain ASCII");
  return "\"" + std::string(name) + "\"";
}

// Rounds up to whole seconds, so that a client that waits this long is not refused again.
std::string seconds_text(Duration wait) {
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(wait).count());
}

}  // namespace

RateLimit::RateLimit(const RateLimitOptions& options) : RateLimit(options, make_table(options)) {}

RateLimit::RateLimit(RateLimitOptions options, std::shared_ptr<RateTable> table)
    : key_(std::move(options.key)), table_(std::move(table)) {
  if (options.policy.empty()) return;
  name_ = quoted(options.policy);
  policy_ = name_ + ";q=" + std::to_string(options.requests) + ";w=" + seconds_text(options.per);
}

std::string RateLimit::key_of(const Request& request) const {
  if (key_) return key_(request);
  const std::string key = middleware::client_key(request.client_address().to_string());
  // A connection that was reset has no peer address; all such peers share a limit.
  return key.empty() ? "gone" : key;
}

std::optional<Response> RateLimit::guard(Request& request) const {
  const std::string key = key_of(request);
  return key.empty() ? std::nullopt : count(request, key);
}

std::optional<Response> RateLimit::count(Request& request, const std::string& key) const {
  return judge(request, table_->ask(key));
}

std::optional<Response> RateLimit::judge(Request& request, const RateDecision& decision) const {
  const RateVerdict verdict{decision, table_.get()};
  request.attachments().set(verdict);
  if (verdict.is_allowed) return std::nullopt;
  Response response(Status::TooManyRequests);
  response.header("Retry-After", seconds_text(verdict.wait));
  return response;
}

void RateLimit::finish(const Request& request, Response& response) const {
  const RateVerdict* const verdict = request.attachments().find<RateVerdict>();
  // With nested limits, the last one consulted sets the fields.
  if (verdict == nullptr || verdict->table != table_.get() || name_.empty()) return;
  response.header("RateLimit-Policy", policy_);
  response.header("RateLimit", name_ + ";r=" + std::to_string(verdict->remaining) +
                                   ";t=" + seconds_text(verdict->wait));
}

}  // namespace skua

// In: a key and the time. Out: whether the request is allowed. The generic cell rate algorithm:
// each key stores the time at which its whole burst is available again. A request moves that time
// by one interval, and is refused if it would move further ahead than a whole burst.

namespace skua::middleware {

RateTable::RateTable(const Settings& settings, const loop::Clock& clock)
    : clock_(clock),
      interval_(settings.interval.count()),
      tolerance_(interval_ * static_cast<std::int64_t>(settings.burst)),
      slots_(std::bit_ceil((settings.max_keys + set_size - 1) / set_size) * set_size) {}

RateDecision RateTable::ask(std::string_view key) { return decide(key, true); }

RateDecision RateTable::look(std::string_view key) { return decide(key, false); }

RateDecision RateTable::decide(std::string_view key, bool is_counted) {
  const std::uint64_t hash = hash_(key);
  const std::size_t set = hash & (slots_.size() / set_size - 1);
  const std::int64_t now = clock_.now().time_since_epoch().count();
  const std::lock_guard lock(shards_[set % shard_count].mutex);
  const auto begin = slots_.begin() + static_cast<std::ptrdiff_t>(set * set_size);
  const auto end = begin + set_size;
  auto slot = std::find_if(begin, end, [hash](const Slot& s) { return s.hash == hash; });
  if (!is_counted) {
    Slot copy = slot == end ? Slot() : *slot;
    return count(copy, hash, now);
  }
  if (slot == end) {
    slot = std::min_element(begin, end,
                            [](const Slot& a, const Slot& b) { return a.full_at < b.full_at; });
    slot->full_at = now;
  }
  return count(*slot, hash, now);
}

RateDecision RateTable::count(Slot& slot, std::uint64_t hash, std::int64_t now) const noexcept {
  const std::int64_t full_at = std::max(slot.full_at, now) + interval_;
  const std::int64_t used = full_at - now;
  if (used > tolerance_) {
    return {.is_allowed = false, .wait = Duration(used - tolerance_)};
  }
  slot = {.hash = hash, .full_at = full_at};
  return {.remaining = static_cast<std::size_t>((tolerance_ - used) / interval_),
          .wait = Duration(used)};
}

// In: a peer's address as formatted by our own sockets. Out: the part that identifies the peer.

namespace {

// Reads `2001:db8:…` into words and returns their number, or nullopt if one is not hexadecimal.
std::optional<std::size_t> read_words(std::string_view text, std::span<std::uint16_t> words) {
  std::size_t count = 0;
  while (!text.empty()) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    if (count == words.size()) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + colon, words[count], 16);
    if (error != std::errc{} || end != text.data() + colon) return std::nullopt;
    ++count;
    text.remove_prefix(std::min(colon + 1, text.size()));
  }
  return count;
}

// Returns the first four of the eight words of an IPv6 address. RFC 4291 §2.2
std::optional<std::array<std::uint16_t, 4>> network_of(std::string_view host) {
  std::array<std::uint16_t, 8> words{};
  const std::size_t gap = host.find("::");
  const auto before = read_words(host.substr(0, gap), words);
  if (!before) return std::nullopt;
  if (gap != host.npos) {
    std::array<std::uint16_t, 8> tail{};
    const auto after = read_words(host.substr(gap + 2), tail);
    if (!after || *before + *after > words.size()) return std::nullopt;
    std::copy_n(tail.begin(), *after, words.end() - static_cast<std::ptrdiff_t>(*after));
  } else if (*before != words.size()) {
    return std::nullopt;
  }
  return std::array{words[0], words[1], words[2], words[3]};
}

}  // namespace

std::string client_key(std::string_view peer) {
  if (!peer.starts_with('[')) {
    // An IPv4 address with a port, or a path without one.
    return std::string(peer.starts_with("unix:") ? peer : peer.substr(0, peer.rfind(':')));
  }
  const std::size_t end = peer.find_first_of("%]");
  const std::string_view host = peer.substr(1, end == peer.npos ? end : end - 1);
  constexpr std::string_view mapped = "::ffff:";  // RFC 4291 §2.5.5.2
  if (host.starts_with(mapped) && host.find('.') != host.npos) {
    return std::string(host.substr(mapped.size()));
  }
  const auto network = network_of(host);
  if (!network) return std::string(host);
  std::string key;
  for (const std::uint16_t word : *network) {
    std::array<char, 4> digits{};
    const auto last = std::to_chars(digits.data(), digits.data() + digits.size(), word, 16).ptr;
    key.append(digits.data(), last).append(":");
  }
  return key.append(":/64");
}

}  // namespace skua::middleware
