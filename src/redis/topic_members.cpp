// SPDX-License-Identifier: MIT
// In: members that come and go. Out: the same in Redis, a hash for each topic. A process that dies
// takes its members with it: they count only while it is among the nodes that are alive.
#include "redis/topic_members.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <new>
#include <optional>

#include "resp/number.hpp"
#include "topics/bus.hpp"
#include "topics/hub.hpp"

namespace skua::redis {
namespace {

constexpr unsigned beats_of_absence = 3;   // until a process is taken for dead
constexpr unsigned beats_of_entries = 12;  // until all members are told again
constexpr unsigned beats_of_keys = 60;     // until Redis forgets a topic's members

// KEYS: members, nodes, changes. ARGV: node, how long it is taken for alive, how long the keys are
// kept, then the token and the text of each member.
constexpr const char* enter_script = R"(
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[2], string.format('%.0f', now + ARGV[2]), ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
local new = 0
for i = 4, #ARGV, 2 do
  new = new + redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
if new > 0 then
  local id = redis.call('XADD', KEYS[3], 'MAXLEN', '~', 16, '*', 't', '')
  redis.pcall('PUBLISH', KEYS[3], id)
  redis.call('PEXPIRE', KEYS[3], ARGV[3])
end
return new
)";

// KEYS: members, changes. ARGV: how long the keys are kept, then the tokens.
constexpr const char* leave_script = R"(
local gone = 0
for i = 2, #ARGV do
  gone = gone + redis.call('HDEL', KEYS[1], ARGV[i])
end
if gone > 0 then
  local id = redis.call('XADD', KEYS[2], 'MAXLEN', '~', 16, '*', 't', '')
  redis.pcall('PUBLISH', KEYS[2], id)
  redis.call('PEXPIRE', KEYS[2], ARGV[1])
end
return gone
)";

// KEYS: members, nodes, changes. ARGV: how long a node is taken for alive, how long the keys are
// kept. A node that is alive for longer than that is ahead of a clock that was set back.
constexpr const char* list_script = R"(
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local all = redis.call('HGETALL', KEYS[1])
local alive, found, gone = {}, {}, 0
for i = 1, #all, 2 do
  local node = string.match(all[i], '^[^:]*')
  if alive[node] == nil then
    local till = tonumber(redis.call('ZSCORE', KEYS[2], node) or 0)
    if till > now + ARGV[1] then
      redis.call('ZADD', KEYS[2], string.format('%.0f', now + ARGV[1]), node)
    end
    alive[node] = till >= now
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
  redis.call('PEXPIRE', KEYS[3], ARGV[2])
end
return found
)";

// KEYS: nodes. ARGV: node, or nothing if it has no members; how long it is taken for alive, how
// long the keys are kept. Returns whether it was taken for alive, and the nodes that are.
constexpr const char* alive_script = R"(
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local latest = string.format('%.0f', now + ARGV[2])
local till
if ARGV[1] ~= '' then
  till = redis.call('ZSCORE', KEYS[1], ARGV[1])
  redis.call('ZADD', KEYS[1], latest, ARGV[1])
end
for _, ahead in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. latest, '+inf')) do
  redis.call('ZADD', KEYS[1], latest, ahead)
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('(%.0f', now))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
local alive = redis.call('ZRANGE', KEYS[1], 0, -1)
table.insert(alive, 1, till and tonumber(till) >= now and 1 or 0)
return alive
)";

// A question about a room of a thousand keeps Redis busy for half a millisecond, so while its
// members come and go, it is asked each tenth of a second.
constexpr Duration pause_of_a_member = 100us;
constexpr Duration longest_pause = 1s;
constexpr std::size_t tokens_at_once = 256;       // in a script
constexpr std::size_t bytes_at_once = 64 * 1024;  // of their texts
constexpr std::size_t calls_at_once = 32;

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
  own_.emplace(token, Own{.topic = topic, .text = text_of(member)});
  tasks_.spawn(send_enter(std::move(topic), {std::move(token)}));
}

/// Enters members of a topic, unless they have left.
Task<> TopicMembership::send_enter(std::string topic, std::vector<std::string> tokens) {
  const Duration beat = settings_.options.heartbeat;
  ScriptCall call(enter_, Keys(settings_.members(topic), settings_.nodes(),
                               settings_.stream(topics::member_changes_of(topic))));
  call.add(settings_.node).add(milliseconds_in(beat, beats_of_absence));
  call.add(milliseconds_in(beat, beats_of_keys));
  bool is_empty = true;
  for (const std::string& token : tokens) {
    const auto own = own_.find(token);
    if (own == own_.end()) continue;
    call.add(token).add(own->second.text);
    is_empty = false;
  }
  if (is_empty) co_return;
  const Result<Reply, Problem> reply = co_await client_.eval(std::move(call));
  if (!reply) must_enter_again_ = true;
}

void TopicMembership::leave(const std::string& token) {
  const auto own = own_.find(token);
  if (own == own_.end()) return;
  std::string topic = std::move(own->second.topic);
  left_.emplace(token, topic);
  own_.erase(own);
  tasks_.spawn(send_leave(std::move(topic), {token}));
}

Task<> TopicMembership::send_leave(std::string topic, std::vector<std::string> tokens) {
  ScriptCall call(
      leave_, Keys(settings_.members(topic), settings_.stream(topics::member_changes_of(topic))));
  call.add(milliseconds_in(settings_.options.heartbeat, beats_of_keys));
  for (const std::string& token : tokens) call.add(token);
  const Result<Reply, Problem> reply = co_await client_.eval(std::move(call));
  if (!reply) co_return;
  for (const std::string& token : tokens) left_.erase(token);
}

// Questions ---------------------------------------------------------------------------------------

void TopicMembership::ask(const std::string& topic, Answer answer) {
  Listing& listing = listings_[topic];
  listing.waiting.push_back(std::move(answer));
  if (listing.is_asked) return;
  tasks_.spawn(answer_all(topic));
  listing.is_asked = true;
}

/// Answers until nobody asks any more. An answer is for those who asked before the question was
/// sent: what they have heard of may be later than one that is under way.
Task<> TopicMembership::answer_all(std::string topic) {
  Listing& listing = listings_[topic];
  while (true) {
    try {
      co_await yield();  // all who ask in this turn get one answer
      const auto waiting = std::exchange(listing.waiting, {});
      const bool is_wanted =
          std::ranges::any_of(waiting, [](const Answer& answer) { return answer.is_wanted(); });
      if (is_wanted) {
        const Result<topics::MembersPtr, Problem> listed = co_await list(topic);
        for (const Answer& answer : waiting) answer.resolve(listed);
        const std::size_t count = listed ? (*listed)->size() : 0;
        co_await sleep(std::min(longest_pause, pause_of_a_member * static_cast<int>(count)));
      }
    } catch (const std::bad_alloc&) {  // they get Closed
      listing.waiting.clear();
    }
    if (listing.waiting.empty()) break;
  }
  listings_.erase(topic);
}

Task<Result<topics::MembersPtr, Problem>> TopicMembership::list(std::string topic) {
  const Duration beat = settings_.options.heartbeat;
  ScriptCall call(list_, Keys(settings_.members(topic), settings_.nodes(),
                              settings_.stream(topics::member_changes_of(topic))));
  call.add(milliseconds_in(beat, beats_of_absence)).add(milliseconds_in(beat, beats_of_keys));
  const Result<Reply, Problem> reply = co_await client_.eval(std::move(call));
  if (!reply && is_passing(reply.error())) {
    // All that passes is one problem for those who asked: they may ask again.
    co_return Problem{.error = Error(Errc::TimedOut, "topics"), .text = reply.error().text};
  }
  if (!reply) co_return reply.error();
  Members members = members_in(topic, *reply);
  topics::sort_members(members);
  co_return std::make_shared<const Members>(std::move(members));
}

TopicMembership::Members TopicMembership::members_in(const std::string& topic, const Reply& reply) {
  Members members;
  members.reserve(reply.size() / 2);
  for (std::size_t i = 0; i + 1 < reply.size(); i += 2) {
    const std::string_view token = reply[i].text();
    const std::string_view node = token.substr(0, token.find(':'));
    if (node == settings_.node && !own_.contains(token)) {
      left_.emplace(token, topic);  // a command that was given up came after all
      continue;
    }
    if (!seen_.contains(node)) seen_.emplace(node);
    TopicMember member;
    if (read_member(reply[i + 1].text(), member)) members.push_back(std::move(member));
  }
  return members;
}

// Beats -------------------------------------------------------------------------------------------

Task<> TopicMembership::beat(std::vector<std::string> watched) {
  if (!own_.empty() || !watched.empty()) {
    const bool has_lost_one = co_await say_alive();
    // Those who watch members have to hear of a process that died, and nobody else tells them.
    if (has_lost_one) co_await list_all(std::move(watched));
  }
  if (++beats_ % beats_of_entries == 0) must_enter_again_ = true;
  std::vector<Task<>> calls;
  if (std::exchange(must_enter_again_, false)) {
    for (Batch& batch : batches_of(own_)) {
      calls.push_back(send_enter(std::move(batch.topic), std::move(batch.tokens)));
    }
  }
  for (Batch& batch : batches_of(left_)) {
    calls.push_back(send_leave(std::move(batch.topic), std::move(batch.tokens)));
  }
  co_await run_all(std::move(calls));
}

/// Runs calls side by side, some at a time, as long as Redis is there.
Task<> TopicMembership::run_all(std::vector<Task<>> calls) {
  for (std::size_t i = 0; i < calls.size() && !must_enter_again_; i += calls_at_once) {
    const std::size_t end = std::min(calls.size(), i + calls_at_once);
    std::vector<Task<>> some(std::make_move_iterator(calls.begin() + static_cast<long>(i)),
                             std::make_move_iterator(calls.begin() + static_cast<long>(end)));
    co_await when_all(std::move(some));
  }
}

Task<> TopicMembership::list_all(std::vector<std::string> watched) {
  std::vector<Task<>> calls;
  calls.reserve(watched.size());
  for (std::string& topic : watched) calls.push_back(clean(std::move(topic)));
  co_await run_all(std::move(calls));
}

Task<> TopicMembership::clean(std::string topic) {
  const auto listed = co_await list(std::move(topic));
  static_cast<void>(listed.has_value());  // it is tried again with the next change
}

/// Returns members by their topics, some together.
template <class Tokens>
std::vector<TopicMembership::Batch> TopicMembership::batches_of(const Tokens& tokens) {
  struct Open {
    std::size_t index = 0;
    std::size_t bytes = 0;
  };
  std::map<std::string_view, Open> open;
  std::vector<Batch> batches;
  for (const auto& [token, member] : tokens) {
    const std::string_view topic = topic_of(member);
    const auto [at, is_new] = open.try_emplace(topic, Open{.index = batches.size()});
    const bool is_full = !is_new && (batches[at->second.index].tokens.size() >= tokens_at_once ||
                                     at->second.bytes >= bytes_at_once);
    if (is_full) at->second = Open{.index = batches.size()};
    if (is_new || is_full) batches.push_back({.topic = std::string(topic)});
    batches[at->second.index].tokens.push_back(token);
    at->second.bytes += bytes_of(member);
  }
  return batches;
}

/// Returns whether a process has died whose members were seen.
Task<bool> TopicMembership::say_alive() {
  const Duration beat = settings_.options.heartbeat;
  ScriptCall call(alive_, Keys(settings_.nodes()));
  call.add(own_.empty() ? std::string() : settings_.node);
  call.add(milliseconds_in(beat, beats_of_absence));
  call.add(milliseconds_in(beat, beats_of_keys));
  const Result<Reply, Problem> reply = co_await client_.eval(std::move(call));
  if (!reply || (!own_.empty() && (*reply)[0].integer() != 1)) must_enter_again_ = true;
  if (!reply) co_return false;
  std::set<std::string, std::less<>> alive;
  for (std::size_t i = 1; i < reply->size(); ++i) alive.emplace((*reply)[i].text());
  const std::size_t lost = std::erase_if(seen_, [&](const std::string& node) {
    return node != settings_.node && !alive.contains(node);
  });
  co_return lost != 0;
}

}  // namespace skua::redis
