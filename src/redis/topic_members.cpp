// SPDX-License-Identifier: MIT
// In: members that come and go. Out: the same in Redis, a hash for each topic. A process that dies
// takes its members with it: they count only while it is among the nodes that are alive.
#include "redis/topic_members.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <new>
#include <optional>

#include "resp/number.hpp"
#include "topics/bus.hpp"

namespace skua::redis {
namespace {

constexpr unsigned beats_of_absence = 3;   // until a process is taken for dead
constexpr unsigned beats_of_entries = 12;  // until all members are told again
constexpr unsigned beats_of_keys = 60;     // until Redis forgets a topic's members

// KEYS: members, nodes, changes. ARGV: token, text, node, how long the node is taken for alive, how
// long the keys are kept.
constexpr const char* enter_script = R"(
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[2], string.format('%.0f', now + ARGV[4]), ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[5])
local is_new = redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
if is_new == 1 then
  local id = redis.call('XADD', KEYS[3], 'MAXLEN', '~', 16, '*', 't', '')
  redis.pcall('PUBLISH', KEYS[3], id)
  redis.call('PEXPIRE', KEYS[3], ARGV[5])
end
return is_new
)";

// KEYS: members, changes. ARGV: token, how long the keys are kept.
constexpr const char* leave_script = R"(
local is_gone = redis.call('HDEL', KEYS[1], ARGV[1])
if is_gone == 1 then
  local id = redis.call('XADD', KEYS[2], 'MAXLEN', '~', 16, '*', 't', '')
  redis.pcall('PUBLISH', KEYS[2], id)
  redis.call('PEXPIRE', KEYS[2], ARGV[2])
end
return is_gone
)";

// KEYS: members, nodes, changes. ARGV: how long the keys are kept.
constexpr const char* list_script = R"(
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local all = redis.call('HGETALL', KEYS[1])
local alive, found, gone = {}, {}, 0
for i = 1, #all, 2 do
  local node = string.match(all[i], '^[^:]*')
  if alive[node] == nil then
    local till = redis.call('ZSCORE', KEYS[2], node)
    alive[node] = till and tonumber(till) >= now or false
  end
  if alive[node] then
    found[#found + 1] = all[i]
    found[#found + 1] = all[i + 1]
  else
    redis.call('HDEL', KEYS[1], all[i])
    gone = gone + 1
  end
end
if gone > 0 then
  local id = redis.call('XADD', KEYS[3], 'MAXLEN', '~', 16, '*', 't', '')
  redis.pcall('PUBLISH', KEYS[3], id)
  redis.call('PEXPIRE', KEYS[3], ARGV[1])
end
return found
)";

// KEYS: nodes. ARGV: node, how long it is taken for alive, how long the keys are kept. Returns
// whether it was taken for alive.
constexpr const char* alive_script = R"(
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local till = redis.call('ZSCORE', KEYS[1], ARGV[1])
redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[2]), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('(%.0f', now))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return till and tonumber(till) >= now and 1 or 0
)";

std::int64_t milliseconds_in(Duration beat, unsigned count) noexcept {
  const auto one = std::chrono::ceil<std::chrono::milliseconds>(beat).count();
  return std::max<std::int64_t>(one, 1) * count;
}

}  // namespace

std::string text_of(const TopicMember& member) {
  return std::to_string(member.name.size()) + ":" + member.name + member.data;
}

bool read_member(std::string_view text, TopicMember& member) {
  const std::size_t colon = text.find(':');
  const std::optional<std::int64_t> size = resp::parse_integer(text.substr(0, colon));
  if (colon == text.npos || !size || *size < 0) return false;
  text.remove_prefix(colon + 1);
  if (static_cast<std::uint64_t>(*size) > text.size()) return false;
  member.name = text.substr(0, static_cast<std::size_t>(*size));
  member.data = text.substr(static_cast<std::size_t>(*size));
  return true;
}

TopicMembership::TopicMembership(Client& client, const TopicSettings& settings)
    : client_(client),
      settings_(settings),
      enter_(enter_script),
      leave_(leave_script),
      list_(list_script),
      alive_(alive_script) {}

void TopicMembership::enter(std::string token, std::string topic, const TopicMember& member) {
  own_.emplace(token, Own{.topic = std::move(topic), .text = text_of(member)});
  tasks_.spawn(send_enter(std::move(token)));
}

Task<> TopicMembership::send_enter(std::string token) {
  const auto own = own_.find(token);
  if (own == own_.end()) co_return;
  const Duration beat = settings_.options.heartbeat;
  const std::string& topic = own->second.topic;
  ScriptCall call(enter_, Keys(settings_.members(topic), settings_.nodes(),
                               settings_.stream(topics::member_changes_of(topic))));
  call.add(token).add(own->second.text).add(settings_.node);
  call.add(milliseconds_in(beat, beats_of_absence)).add(milliseconds_in(beat, beats_of_keys));
  const Result<Reply, Problem> reply = co_await client_.eval(std::move(call));
  if (!reply) must_enter_again_ = true;
}

void TopicMembership::leave(const std::string& token) {
  const auto own = own_.find(token);
  if (own == own_.end()) return;
  left_.emplace(token, std::move(own->second.topic));
  own_.erase(own);
  tasks_.spawn(send_leave(token));
}

Task<> TopicMembership::send_leave(std::string token) {
  const auto left = left_.find(token);
  if (left == left_.end()) co_return;
  const std::string& topic = left->second;
  ScriptCall call(
      leave_, Keys(settings_.members(topic), settings_.stream(topics::member_changes_of(topic))));
  call.add(token).add(milliseconds_in(settings_.options.heartbeat, beats_of_keys));
  const Result<Reply, Problem> reply = co_await client_.eval(std::move(call));
  if (reply) left_.erase(token);
}

Task<Result<TopicMembership::Members, Problem>> TopicMembership::list(std::string topic) {
  ScriptCall call(list_, Keys(settings_.members(topic), settings_.nodes(),
                              settings_.stream(topics::member_changes_of(topic))));
  call.add(milliseconds_in(settings_.options.heartbeat, beats_of_keys));
  const Result<Reply, Problem> reply = co_await client_.eval(std::move(call));
  if (!reply) co_return reply.error();
  co_return members_in(topic, *reply);
}

TopicMembership::Members TopicMembership::members_in(const std::string& topic, const Reply& reply) {
  Members members;
  const std::string mine = settings_.node + ":";
  for (std::size_t i = 0; i + 1 < reply.size(); i += 2) {
    const std::string token(reply[i].text());
    if (token.starts_with(mine) && !own_.contains(token)) {
      left_.emplace(token, topic);  // a command that was given up came after all
      continue;
    }
    TopicMember member;
    if (read_member(reply[i + 1].text(), member)) members.push_back(std::move(member));
  }
  return members;
}

Task<> TopicMembership::beat() {
  if (!own_.empty()) co_await say_alive();
  if (++beats_ % beats_of_entries == 0) must_enter_again_ = true;
  if (must_enter_again_) {
    must_enter_again_ = false;
    std::vector<std::string> tokens;
    tokens.reserve(own_.size());
    for (const auto& [token, own] : own_) tokens.push_back(token);
    for (std::string& token : tokens) {
      co_await send_enter(std::move(token));
      if (must_enter_again_) co_return;  // Redis is away
    }
  }
  std::vector<std::string> tokens;
  tokens.reserve(left_.size());
  for (const auto& [token, topic] : left_) tokens.push_back(token);
  for (std::string& token : tokens) co_await send_leave(std::move(token));
}

Task<> TopicMembership::say_alive() {
  const Duration beat = settings_.options.heartbeat;
  ScriptCall call(alive_, Keys(settings_.nodes()));
  call.add(settings_.node).add(milliseconds_in(beat, beats_of_absence));
  call.add(milliseconds_in(beat, beats_of_keys));
  const Result<Reply, Problem> reply = co_await client_.eval(std::move(call));
  if (!reply || reply->integer() != 1) must_enter_again_ = true;
}

}  // namespace skua::redis
