// SPDX-License-Identifier: MIT
// In: commands. Out: where their first key is, and how they treat a connection. The tables list the
// commands of Redis 7 that differ from `NAME KEY ...`.
#include "resp/command_rules.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "base/ascii.hpp"
#include "resp/number.hpp"

namespace skua::resp {
namespace {

using redis::Arguments;
using redis::Command;

bool is_one_of(std::string_view name, std::span<const std::string_view> names) noexcept {
  return std::ranges::any_of(
      names, [name](std::string_view one) { return ascii::equals_ignoring_case(one, name); });
}

// No key: any node may answer.
constexpr std::array<std::string_view, 33> keyless{
    "PING",     "ECHO",    "INFO",    "TIME",      "PUBLISH",     "PUBSUB", "SCRIPT",
    "FUNCTION", "CLIENT",  "CONFIG",  "COMMAND",   "CLUSTER",     "DBSIZE", "FLUSHALL",
    "FLUSHDB",  "KEYS",    "SCAN",    "RANDOMKEY", "LASTSAVE",    "SAVE",   "BGSAVE",
    "ROLE",     "SLOWLOG", "LATENCY", "ACL",       "MODULE",      "WAIT",   "WAITAOF",
    "SENTINEL", "LOLWUT",  "SWAPDB",  "SHUTDOWN",  "BGREWRITEAOF"};

// The first key is the second argument.
constexpr std::array<std::string_view, 5> after_subcommand{"OBJECT", "XINFO", "XGROUP", "MEMORY",
                                                           "BITOP"};
// The first argument counts the keys that follow.
constexpr std::array<std::string_view, 8> counted_first{
    "ZUNION", "ZINTER", "ZDIFF", "ZINTERCARD", "SINTERCARD", "LMPOP", "ZMPOP", "MSETEX"};
// The second argument counts the keys that follow, which may be none.
constexpr std::array<std::string_view, 8> counted_second{
    "EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO", "BLMPOP", "BZMPOP"};

constexpr std::array<std::string_view, 11> blocking{"BLPOP",  "BRPOP",    "BLMOVE",   "BRPOPLPUSH",
                                                    "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP",
                                                    "WAIT",   "WAITAOF",  "DEBUG"};
constexpr std::array<std::string_view, 2> stream_reads{"XREAD", "XREADGROUP"};

constexpr std::array<std::string_view, 6> subscriptions{
    "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE"};
constexpr std::array<std::string_view, 5> transactions{"MULTI", "EXEC", "DISCARD", "WATCH",
                                                       "UNWATCH"};
constexpr std::array<std::string_view, 12> connection_state{
    "HELLO", "AUTH",  "SELECT",   "RESET",    "QUIT",      "MONITOR",
    "SYNC",  "PSYNC", "REPLCONF", "READONLY", "READWRITE", "ASKING"};

// Subcommands of CLIENT; CACHING makes sense only with TRACKING.
constexpr std::array<std::string_view, 4> client_state{"TRACKING", "CACHING", "NO-EVICT",
                                                       "NO-TOUCH"};

// Returns the index of the argument `word`, ignoring case; 0 if there is none.
std::size_t index_of(const Arguments& arguments, std::string_view word) noexcept {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (ascii::equals_ignoring_case(arguments[i], word)) return i;
  }
  return 0;
}

// Returns the index of the first key; 0 if there is none.
std::size_t key_index(const Arguments& arguments) noexcept {
  const std::string_view name = arguments[0];
  if (is_one_of(name, keyless)) return 0;
  if (is_one_of(name, after_subcommand)) return 2;
  if (is_one_of(name, counted_first)) return 2;
  if (is_one_of(name, counted_second)) {
    return parse_integer(arguments[2]).value_or(0) > 0 ? 3 : 0;
  }
  if (is_one_of(name, stream_reads)) {
    const std::size_t streams = index_of(arguments, "STREAMS");
    return streams == 0 ? 0 : streams + 1;
  }
  return 1;
}

// CRC-16/XMODEM, see "Key distribution model" of the specification of Redis Cluster.
constexpr std::uint16_t crc_step(std::uint16_t crc, unsigned char byte) noexcept {
  unsigned value = crc ^ (static_cast<unsigned>(byte) << 8U);
  for (int bit = 0; bit < 8; ++bit) {
    value = (value & 0x8000U) != 0 ? (value << 1U) ^ 0x1021U : value << 1U;
  }
  return static_cast<std::uint16_t>(value & 0xffffU);
}

constexpr std::uint16_t crc16(std::string_view bytes) noexcept {
  std::uint16_t crc = 0;
  for (const char c : bytes) crc = crc_step(crc, static_cast<unsigned char>(c));
  return crc;
}
static_assert(crc16("123456789") == 0x31c3);  // the specification's own example

}  // namespace

std::uint16_t slot_of_key(std::string_view key) noexcept {
  const std::size_t open = key.find('{');
  if (open != std::string_view::npos) {
    const std::size_t close = key.find('}', open + 1);
    if (close != std::string_view::npos && close != open + 1) {
      key = key.substr(open + 1, close - open - 1);
    }
  }
  return crc16(key) % slot_count;
}

std::optional<std::uint16_t> slot_of(const Command& command) noexcept {
  if (const std::string* const key = command.routing_key()) return slot_of_key(*key);
  const std::size_t index = key_index(command.arguments());
  if (index == 0 || index >= command.arguments().size()) return std::nullopt;
  return slot_of_key(command.arguments()[index]);
}

bool is_blocking(const Command& command) noexcept {
  const std::string_view name = command.name();
  if (is_one_of(name, blocking)) return true;
  return is_one_of(name, stream_reads) && index_of(command.arguments(), "BLOCK") != 0;
}

const char* refusal_of(const Command& command) noexcept {
  const std::string_view name = command.name();
  if (is_one_of(name, subscriptions)) return "use Client::subscribe()";
  if (is_one_of(name, transactions)) return "use Client::transaction()";
  if (is_one_of(name, connection_state)) return "connections are shared: set it in redis::Options";
  if (!ascii::equals_ignoring_case(name, "CLIENT")) return nullptr;
  const std::string_view about = command.arguments()[1];
  if (is_one_of(about, client_state)) return "connections are shared, and it would be for all";
  const bool silences = ascii::equals_ignoring_case(about, "REPLY");
  return silences ? "connections are shared, and each command gets its reply" : nullptr;
}

}  // namespace skua::resp
