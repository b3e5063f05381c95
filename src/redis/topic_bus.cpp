// SPDX-License-Identifier: MIT
// In: calls of any thread. Out: what Redis says to them. A thread with a loop of its own does all
// the work: it reads for all subscribers of the process, and publishes for all its publishers.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "crypto/random.hpp"
#include "loop/loop.hpp"
#include "loop/threads/promise.hpp"
#include "loop/threads/thread.hpp"
#include "redis/topic_members.hpp"
#include "redis/topic_outbox.hpp"
#include "redis/topic_reader.hpp"
#include "redis/topic_settings.hpp"
#include "skua/async.hpp"
#include "skua/redis_topics.hpp"
#include "topics/bus.hpp"

namespace skua::redis {
namespace {

using loop::Promise;
using topics::Feed;
using topics::Lease;
using topics::MembersPtr;
using topics::MessageId;
using topics::Page;

constexpr std::size_t page_messages = 64;
constexpr Duration longest_backoff = 1s;  // less than the patience of publishers

TopicSettings settings_for(const Options& redis, TopicBusOptions options) {
  if (options.heartbeat <= Duration(0)) {
    throw std::invalid_argument("redis::TopicBusOptions::heartbeat is not positive");
  }
  if (options.history == 0) {
    throw std::invalid_argument("redis::TopicBusOptions::history is zero");
  }
  if (options.max_topics == 0) {
    throw std::invalid_argument("redis::TopicBusOptions::max_topics is zero");
  }
  TopicSettings settings;
  settings.base = options.prefix + "{topics}:";
  settings.options = std::move(options);
  settings.min_backoff = redis.min_backoff;
  settings.max_backoff = redis.max_backoff;
  settings.timeout = redis.timeout;
  settings.node = crypto::random_token().value();
  return settings;
}

Page page_of(const Reply& elements) {
  Page page;
  for (const Reply& element : elements.elements()) {
    topics::EntryPtr entry = entry_of(element);
    if (entry != nullptr) page.entries.push_back(std::move(entry));
  }
  return page;
}

/// All that belongs to the loop's thread.
struct BusInside {
  BusInside(const Options& redis, const TopicSettings& own_settings, Feed& feed, TopicAway& away,
            const std::function<void(const Problem&)>& on_problem)
      : settings(own_settings),
        client(redis),
        reader(client, settings, feed, away),
        outbox(client, settings, away, on_problem),
        members(client, settings) {}

  /// Keeps what needs it up to date.
  Task<> upkeep();
  /// Asks until there is an answer, or nobody wants one.
  Task<> read(Promise<Page> promise, Command command, bool is_backwards);

  const TopicSettings& settings;
  Client client;
  TopicReader reader;
  TopicOutbox outbox;
  TopicMembership members;
  Scope tasks{};  // the last member: its tasks use the others
};

Task<> BusInside::upkeep() {
  while (true) {
    co_await sleep(settings.options.heartbeat);
    try {
      reader.sweep();
      co_await members.beat(reader.watched_members());
    } catch (const std::bad_alloc&) {
      continue;  // the next beat tries again
    }
  }
}

Task<> BusInside::read(Promise<Page> promise, Command command, bool is_backwards) {
  Backoff backoff(settings.min_backoff, settings.max_backoff);
  while (promise.is_wanted()) {
    const Result<Reply, Problem> reply = co_await client.command(command);
    if (reply) {
      Page page = page_of(*reply);
      if (is_backwards) std::ranges::reverse(page.entries);
      co_return promise.resolve(std::move(page));
    }
    if (!is_passing(reply.error())) co_return promise.resolve(reply.error());
    co_await sleep(backoff.next());
  }
}

/// The bus in Redis.
class RedisTopicBus final : public TopicBus, public std::enable_shared_from_this<RedisTopicBus> {
 public:
  RedisTopicBus(Options redis, TopicBusOptions options)
      : settings_(settings_for(redis, std::move(options))), redis_(std::move(redis)) {
    static_cast<void>(PerThread(redis_));  // throws if an option is malformed
  }
  RedisTopicBus(const RedisTopicBus&) = delete;
  RedisTopicBus& operator=(const RedisTopicBus&) = delete;
  ~RedisTopicBus() override { stop(); }

  void start(Feed& feed, const std::function<void(const Problem&)>& on_problem) override;
  void stop() noexcept override;
  Task<Result<std::string, Problem>> publish(std::string name, std::string text,
                                             std::string once) override;
  void post(std::string name, std::string text) override;
  Task<Result<std::unique_ptr<Lease>, Problem>> watch(std::string name) override;
  Task<Result<Page, Problem>> read(std::string name, MessageId after) override;
  Task<Result<Page, Problem>> newest(std::string name, std::size_t count) override;
  std::unique_ptr<Lease> enter(std::string topic, TopicMember member) override;
  Task<Result<MembersPtr, Problem>> members(std::string topic) override;
  [[nodiscard]] Result<void, Problem> check() const override;
  [[nodiscard]] std::uint64_t losses() const noexcept override { return away_.losses(); }

 private:
  /// Runs a call on the loop's thread, unless it has ended.
  template <class Call>
  void post_inside(Call call) {
    mailbox_->post([this, call = std::move(call)] {
      try {
        if (inside_) call(*inside_);
      } catch (const std::bad_alloc&) {  // who asked is answered by the end of the call
        return;
      }
    });
  }
  /// Likewise; the task waits until the call has resolved its promise.
  template <class T, class Call>
  Task<Result<T, Problem>> ask_inside(Call call) {
    Promise<T> promise("the bus of the topics");
    auto result = promise.result();
    post_inside([promise = std::move(promise), call = std::move(call)](BusInside& inside) {
      call(inside, promise);
    });
    return result;
  }
  void add(BusInside& inside, const std::string& name, std::string text, std::string once,
           std::optional<Promise<std::string>> promise) const;
  static Task<> watch_inside(BusInside& inside, std::string name, TopicReader::Watching promise,
                             std::function<std::unique_ptr<Lease>()> make_lease);

  const TopicSettings settings_;
  const Options redis_;
  TopicAway away_;
  std::atomic<std::uint64_t> last_member_{0};
  std::optional<BusInside> inside_;         // used by the loop's thread only
  std::optional<loop::Thread> thread_;      // none once it has ended
  std::shared_ptr<loop::Mailbox> mailbox_;  // of the thread
  std::once_flag is_stopped_;
};

void RedisTopicBus::start(Feed& feed, const std::function<void(const Problem&)>& on_problem) {
  if (mailbox_ != nullptr) throw std::logic_error("a topic bus belongs to one Topics object");
  const auto begin = [&] {
    BusInside& inside = inside_.emplace(redis_, settings_, feed, away_, on_problem);
    inside.tasks.spawn(inside.reader.run([&inside] {
      inside.members.enter_again();
      inside.tasks.spawn(inside.members.beat(inside.reader.watched_members()));
    }));
    inside.tasks.spawn(inside.upkeep());
  };
  thread_.emplace(loop::Thread::Options{}, begin, [this] { inside_.reset(); });
  mailbox_ = thread_->mailbox();
}

// Its end drops what was posted too late, so that it is answered.
void RedisTopicBus::stop() noexcept {
  std::call_once(is_stopped_, [this] { thread_.reset(); });
}

Result<void, Problem> RedisTopicBus::check() const {
  if (const std::optional<Problem> why = away_.problem()) return *why;
  return {};
}

// Publishing --------------------------------------------------------------------------------------

void RedisTopicBus::add(BusInside& inside, const std::string& name, std::string text,
                        std::string once, std::optional<Promise<std::string>> promise) const {
  TopicOutbox::Publication publication;
  publication.text = std::move(text);
  publication.once = once.empty() ? crypto::random_token().value() : std::move(once);
  publication.promise = std::move(promise);
  publication.deadline = later(loop::Loop::current().now(), settings_.options.patience);
  inside.outbox.add(name, std::move(publication));
}

Task<Result<std::string, Problem>> RedisTopicBus::publish(std::string name, std::string text,
                                                          std::string once) {
  return ask_inside<std::string>(
      [this, name = std::move(name), text = std::move(text), once = std::move(once)](
          BusInside& inside, const Promise<std::string>& promise) {
        add(inside, name, text, once, promise);
      });
}

void RedisTopicBus::post(std::string name, std::string text) {
  post_inside([this, name = std::move(name), text = std::move(text)](BusInside& inside) {
    add(inside, name, text, {}, std::nullopt);
  });
}

// Reading -----------------------------------------------------------------------------------------

Task<> RedisTopicBus::watch_inside(BusInside& inside, std::string name,
                                   TopicReader::Watching promise,
                                   std::function<std::unique_ptr<Lease>()> make_lease) {
  const Result<void, Problem> watched = co_await inside.reader.watch(std::move(name), promise);
  if (watched) {
    promise.resolve(make_lease());  // which ends at once if nobody waits any more
  } else {
    promise.resolve(watched.error());
  }
}

Task<Result<std::unique_ptr<Lease>, Problem>> RedisTopicBus::watch(std::string name) {
  const auto make_lease = [weak = weak_from_this(), name] {
    return std::make_unique<Lease>([weak, name] {
      const auto self = weak.lock();
      if (self == nullptr) return;
      self->post_inside([name](BusInside& inside) { inside.reader.unwatch(name); });
    });
  };
  return ask_inside<std::unique_ptr<Lease>>(
      [name, make_lease](BusInside& inside, const TopicReader::Watching& promise) {
        inside.tasks.spawn(watch_inside(inside, name, promise, make_lease));
      });
}

Task<Result<Page, Problem>> RedisTopicBus::read(std::string name, MessageId after) {
  return ask_inside<Page>(
      [command = Command("XRANGE", settings_.stream(name), after.next().to_string(), "+", "COUNT",
                         page_messages)](BusInside& inside, const Promise<Page>& promise) {
        inside.tasks.spawn(inside.read(promise, command, false));
      });
}

Task<Result<Page, Problem>> RedisTopicBus::newest(std::string name, std::size_t count) {
  return ask_inside<Page>(
      [command = Command("XREVRANGE", settings_.stream(name), "+", "-", "COUNT", count)](
          BusInside& inside, const Promise<Page>& promise) {
        inside.tasks.spawn(inside.read(promise, command, true));
      });
}

// Members -----------------------------------------------------------------------------------------

std::unique_ptr<Lease> RedisTopicBus::enter(std::string topic, TopicMember member) {
  const std::string token = settings_.node + ":" + std::to_string(++last_member_);
  auto lease = std::make_unique<Lease>([weak = weak_from_this(), token] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    self->post_inside([token](BusInside& inside) { inside.members.leave(token); });
  });
  post_inside([token, topic = std::move(topic), member = std::move(member)](BusInside& inside) {
    inside.members.enter(token, topic, member);
  });
  return lease;
}

Task<Result<MembersPtr, Problem>> RedisTopicBus::members(std::string topic) {
  return ask_inside<MembersPtr>(
      [topic = std::move(topic)](BusInside& inside, const Promise<MembersPtr>& promise) {
        inside.members.ask(topic, promise);
      });
}

}  // namespace

std::shared_ptr<TopicBus> topic_bus(Options redis, TopicBusOptions options) {
  redis.max_backoff = std::min(redis.max_backoff, longest_backoff);
  return std::make_shared<RedisTopicBus>(std::move(redis), std::move(options));
}

}  // namespace skua::redis
