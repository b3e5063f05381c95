// SPDX-License-Identifier: MIT
// In: publications. Out: messages in streams. A script remembers each publication, so one whose
// reply was lost is sent again without harm, whichever of the two arrives first.
#include "redis/topic_outbox.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "loop/loop.hpp"
#include "redis/backoff.hpp"

namespace skua::redis {
namespace {

constexpr std::size_t batch_size = 64;
constexpr std::size_t batch_bytes = 256 * 1024;

// KEYS: the stream, and one for each publication. ARGV: the length, how long the stream and the
// publications are kept, then the text and the name of each publication. A user who may not publish
// on channels has added the messages all the same.
constexpr const char* publish_script = R"(
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
local previous = last[1] and last[1][1] or '0-0'
local ids, is_new = {}, false
for i = 2, #KEYS do
  local id = redis.call('GET', KEYS[i])
  if not id then
    id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'p', previous,
                    'o', ARGV[2 * i + 1], 't', ARGV[2 * i])
    redis.call('SET', KEYS[i], id, 'PX', ARGV[3])
    previous, is_new = id, true
  end
  ids[i - 1] = id
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
if is_new then redis.pcall('PUBLISH', KEYS[1], previous) end
return ids
)";

std::int64_t whole_milliseconds(Duration duration) noexcept {
  return std::max<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(duration).count(), 1);
}

}  // namespace

TopicOutbox::TopicOutbox(Client& client, const TopicSettings& settings, const TopicAway& away,
                         const std::function<void(const Problem&)>& on_problem)
    : client_(client),
      settings_(settings),
      away_(away),
      on_problem_(on_problem),
      script_(publish_script) {}

void TopicOutbox::add(const std::string& name, Publication publication) {
  const TopicBusOptions& options = settings_.options;
  if (options.patience == Duration(0)) {
    if (const std::optional<Problem> why = away_.get()) return tell(publication, *why);
  }
  const std::size_t size = publication.text.size();
  if (count_ >= options.max_waiting || (count_ != 0 && bytes_ + size > options.max_waiting_bytes)) {
    std::string text = "too many publications wait for Redis";
    if (last_problem_) text += ": " + last_problem_->text;
    return tell(publication, Problem{.error = Error(Errc::Overloaded, "topics"), .text = text});
  }
  ++count_;
  bytes_ += size;
  Queue& queue = queues_[name];
  queue.publications.push_back(std::move(publication));
  if (!std::exchange(queue.is_sent, true)) tasks_.spawn(send(name));
}

Task<> TopicOutbox::send(std::string name) {
  Queue& queue = queues_[name];
  try {
    co_await send_all(name, queue);
  } catch (const std::bad_alloc&) {
    const Problem why{.error = Error(Errc::OutOfMemory, "topics")};
    while (!queue.publications.empty()) take_first(queue, why);
  }
  queues_.erase(name);
}

Task<> TopicOutbox::send_all(const std::string& name, Queue& queue) {
  Backoff backoff(settings_.min_backoff, settings_.max_backoff);
  while (true) {
    drop_overdue(queue);
    if (queue.publications.empty()) break;
    std::size_t count = 0;
    for (std::size_t bytes = 0; count < std::min(queue.publications.size(), batch_size); ++count) {
      bytes += queue.publications[count].text.size();
      if (count != 0 && bytes > batch_bytes) break;
    }
    ScriptCall call = call_for(name, queue, count);
    const Result<Reply, Problem> reply = co_await client_.eval(std::move(call));
    if (settle(queue, count, reply)) {
      backoff.reset();
    } else {
      co_await sleep(backoff.next());
    }
  }
}

ScriptCall TopicOutbox::call_for(const std::string& name, Queue& queue, std::size_t count) {
  const TopicBusOptions& options = settings_.options;
  Keys keys(settings_.stream(name));
  for (std::size_t i = 0; i < count; ++i)
    keys.add(settings_.once(name, queue.publications[i].once));
  ScriptCall call(script_, keys);
  call.add(options.history).add(whole_milliseconds(options.keep));
  call.add(whole_milliseconds(options.once));
  loop::Instant deadline{};
  for (std::size_t i = 0; i < count; ++i) {
    Publication& publication = queue.publications[i];
    publication.was_sent = true;
    deadline = std::max(deadline, publication.deadline);
    call.add(publication.text).add(publication.once);
  }
  if (options.patience != Duration(0)) {
    const Duration left = deadline - loop::Loop::current().now();
    call.within(std::max<Duration>(left, 1ms));
  }
  return call;
}

bool TopicOutbox::settle(Queue& queue, std::size_t count, const Result<Reply, Problem>& reply) {
  if (reply && reply->size() == count) {
    last_problem_.reset();
    for (std::size_t i = 0; i < count; ++i) take_first(queue, std::string((*reply)[i].text()));
    return true;
  }
  const Problem malformed{.error = Error(Errc::MalformedReply, "redis"),
                          .text = "the script's reply is malformed"};
  last_problem_ = reply ? malformed : reply.error();
  if (settings_.options.patience != Duration(0) && is_passing(*last_problem_)) return false;
  for (std::size_t i = 0; i < count; ++i) take_first(queue, *last_problem_);
  return true;
}

/// Drops the publications whose time is over, and those that nobody wants any more and that were
/// not sent.
void TopicOutbox::drop_overdue(Queue& queue) {
  const bool has_deadlines = settings_.options.patience != Duration(0);
  const loop::Instant now = loop::Loop::current().now();
  // Their deadlines ascend, and no more than a batch is sent before the next look.
  while (!queue.publications.empty() && has_deadlines &&
         now >= queue.publications.front().deadline) {
    take_first(queue, overdue());
  }
  const std::size_t count = std::min(queue.publications.size(), batch_size);
  const auto end = queue.publications.begin() + static_cast<std::ptrdiff_t>(count);
  const auto kept_end =
      std::remove_if(queue.publications.begin(), end, [&](const Publication& publication) {
        const bool is_kept =
            !publication.promise || publication.was_sent || publication.promise->is_wanted();
        if (is_kept) return false;
        --count_;
        bytes_ -= publication.text.size();
        return true;
      });
  queue.publications.erase(kept_end, end);
}

void TopicOutbox::take_first(Queue& queue, Result<std::string, Problem> result) {
  const Publication publication = std::move(queue.publications.front());
  queue.publications.pop_front();
  --count_;
  bytes_ -= publication.text.size();
  tell(publication, std::move(result));
}

void TopicOutbox::tell(const Publication& publication, Result<std::string, Problem> result) const {
  if (publication.promise) return publication.promise->resolve(std::move(result));
  if (result || !on_problem_) return;
  on_problem_(result.error());  // does not throw
}

Problem TopicOutbox::overdue() const {
  std::string text = "Redis did not take the message in time";
  if (last_problem_) text += ": " + last_problem_->text;
  return {.error = Error(Errc::TimedOut, "topics"), .text = std::move(text)};
}

}  // namespace skua::redis
