// SPDX-License-Identifier: MIT
// The public Client: checks commands, gives them a deadline, and hands them to the topology.
#include "skua/redis.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "base/ascii.hpp"
#include "loop/loop.hpp"
#include "redis/problem.hpp"
#include "redis/settings.hpp"
#include "redis/subscriber.hpp"
#include "redis/topology.hpp"
#include "resp/command_rules.hpp"

namespace skua::redis {
namespace {

using TopologyPtr = std::shared_ptr<Topology>;

std::optional<Problem> refusal(const Command& command) {
  const char* const why = resp::refusal_of(command);
  if (why == nullptr) return std::nullopt;
  return Problem{.error = Error(Errc::Unsupported, why),
                 .text = "cannot send " + std::string(command.name()) + ": " + why};
}

std::optional<Problem> refusal(const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    if (auto why = refusal(command)) return why;
  }
  return std::nullopt;
}

loop::Instant deadline_of(const Settings& settings, std::span<const Command> commands) {
  Duration longest(0);
  for (const Command& command : commands) {
    Duration limit = command.limit();
    if (limit < Duration(0)) {
      limit = resp::is_blocking(command) ? Duration::max() : settings.options.timeout;
    }
    longest = std::max(longest, limit);
  }
  return later(loop::Loop::current().now(), longest);
}

Task<Result<Reply, Problem>> run_one(TopologyPtr topology, Command command,
                                     loop::Instant deadline) {
  std::vector<Command> commands;
  commands.push_back(std::move(command));
  Replies results = co_await topology->perform(std::move(commands), Atomicity::None, deadline);
  Result<Reply, Problem> result = std::move(results.front());
  if (result && result->is_error()) co_return error_of(*result);
  co_return result;
}

Task<Result<Reply, Problem>> refuse_one(Problem why) { co_return why; }

Task<Replies> run_all(TopologyPtr topology, std::vector<Command> commands, loop::Instant deadline) {
  const std::optional<Problem> why = refusal(commands);
  if (why) co_return Replies(commands.size(), *why);
  if (commands.empty()) co_return Replies();
  Replies results = co_await topology->perform(std::move(commands), Atomicity::None, deadline);
  co_return results;
}

// The results are those of MULTI, of each command as it is queued, and of EXEC.
Result<std::vector<Reply>, Problem> executed(Replies results) {
  if (!has_begun(results)) {
    Problem why = error_of(*results.front());
    why.text += " (MULTI was refused: the commands were executed one by one)";
    return why;
  }
  Result<Reply, Problem>& last = results.back();
  if (!last) return std::move(last).error();
  if (last->type() == ReplyType::Array) return std::move(*last).elements();
  // EXECABORT only says that there was an error before.
  const auto first =
      std::ranges::find_if(results, [](const auto& one) { return !replied_error(one).empty(); });
  if (first != results.end()) return error_of(**first);
  return Problem{.error = Error(Errc::MalformedReply, "redis"), .text = "EXEC has no replies"};
}

Task<Result<std::vector<Reply>, Problem>> run_transaction(TopologyPtr topology,
                                                          std::vector<Command> commands,
                                                          loop::Instant deadline) {
  const std::optional<Problem> why = refusal(commands);
  if (why) co_return *why;
  if (commands.empty()) co_return std::vector<Reply>();
  Replies results =
      co_await topology->perform(std::move(commands), Atomicity::Transaction, deadline);
  co_return executed(std::move(results));
}

Task<Result<Reply, Problem>> run_script(TopologyPtr topology, ScriptCall call,
                                        loop::Instant deadline) {
  Command by_sha("EVALSHA", call.script().sha());
  by_sha.add(call.rest());
  Result<Reply, Problem> result = co_await run_one(topology, std::move(by_sha), deadline);
  if (result || error_code(result.error()) != "NOSCRIPT") co_return result;
  Command whole("EVAL", call.script().text());
  whole.add(call.rest());
  result = co_await run_one(topology, std::move(whole), deadline);
  co_return result;
}

/// The clients of a loop's thread, by their settings.
struct ClientsOfLoop {
  struct One {
    std::shared_ptr<const Settings> settings;
    std::unique_ptr<Client> client;
  };
  std::vector<One> all{};
};

}  // namespace

std::string_view error_code(const Problem& problem) noexcept {
  if (problem.code() != Errc::ErrorReply) return {};
  const std::string_view word = std::string_view(problem.text).substr(0, problem.text.find(' '));
  // Other problems with that code say `could not log in to ...`.
  const bool is_code = std::ranges::none_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
  return is_code ? word : std::string_view();
}

// Channels ----------------------------------------------------------------------------------------

Channels& Channels::channel(std::string_view name) {
  channels_.emplace_back(name);
  return *this;
}

Channels& Channels::pattern(std::string_view pattern) {
  patterns_.emplace_back(pattern);
  return *this;
}

Channels& Channels::shard(std::string_view name) {
  shards_.emplace_back(name);
  return *this;
}

Subscription::Subscription(std::shared_ptr<Subscriber> subscriber) noexcept
    : subscriber_(std::move(subscriber)) {}
Subscription::Subscription(Subscription&&) noexcept = default;
Subscription& Subscription::operator=(Subscription&& other) noexcept {
  if (this == &other) return *this;
  if (subscriber_ != nullptr) subscriber_->end(Problem{.error = Errc::Closed});
  subscriber_ = std::move(other.subscriber_);
  return *this;
}
Subscription::~Subscription() {
  if (subscriber_ != nullptr) subscriber_->end(Problem{.error = Errc::Closed});
}

Task<Result<Message, Problem>> Subscription::next() { return Subscriber::next(subscriber_); }
void Subscription::add(const Channels& channels) { subscriber_->add(channels); }
void Subscription::remove(const Channels& channels) { subscriber_->remove(channels); }

// Client ------------------------------------------------------------------------------------------

namespace {

void need_own_thread(const skua::detail::OwnThread& thread) {
  thread.need(
      "redis::Client: it belongs to the thread that made it: use redis::PerThread, which has one "
      "for "
      "each");
}

}  // namespace

Client::Client(std::string_view url) : Client(Options{.url = std::string(url)}) {}
Client::Client(Options options) : Client(read_settings(std::move(options))) {}
Client::Client(std::shared_ptr<const Settings> settings)
    : settings_(std::move(settings)), topology_(make_topology(settings_)) {
  static_cast<void>(loop::Loop::current());  // throws on a thread without one
}

Client::~Client() {
  const Problem why = problem_of(Error(Errc::Closed, "the Redis client was destroyed"));
  for (const auto& one : subscribers_) {
    if (const auto subscriber = one.lock()) subscriber->end(why);
  }
  topology_->close(why);
}

Task<Result<Reply, Problem>> Client::command(Command command) {
  need_own_thread(thread_);
  if (auto why = refusal(command)) return refuse_one(*std::move(why));
  const loop::Instant deadline = deadline_of(*settings_, std::span(&command, 1));
  return run_one(topology_, std::move(command), deadline);
}

Task<Replies> Client::pipeline(std::vector<Command> commands) {
  need_own_thread(thread_);
  const loop::Instant deadline = deadline_of(*settings_, commands);
  return run_all(topology_, std::move(commands), deadline);
}

Task<Result<std::vector<Reply>, Problem>> Client::transaction(std::vector<Command> commands) {
  need_own_thread(thread_);
  const loop::Instant deadline = deadline_of(*settings_, commands);
  return run_transaction(topology_, std::move(commands), deadline);
}

Task<Result<Reply, Problem>> Client::eval(ScriptCall call) {
  need_own_thread(thread_);
  const Duration limit = call.limit() < Duration(0) ? settings_->options.timeout : call.limit();
  const loop::Instant deadline = later(loop::Loop::current().now(), limit);
  return run_script(topology_, std::move(call), deadline);
}

Task<Result<Subscription, Problem>> Client::subscribe(Channels channels, SubscribeOptions options) {
  need_own_thread(thread_);
  const auto subscriber = std::make_shared<Subscriber>(settings_, topology_, options);
  std::erase_if(subscribers_, [](const auto& one) { return one.expired(); });
  subscribers_.push_back(subscriber);
  return begin(Subscription(subscriber), subscriber, std::move(channels));
}

Task<Result<Subscription, Problem>> Client::begin(Subscription subscription,
                                                  std::shared_ptr<Subscriber> subscriber,
                                                  Channels channels) {
  const Result<void, Problem> started = co_await Subscriber::start(subscriber, std::move(channels));
  if (!started) co_return started.error();
  co_return subscription;
}

// PerThread ---------------------------------------------------------------------------------------

PerThread::PerThread(std::string_view url) : PerThread(Options{.url = std::string(url)}) {}
PerThread::PerThread(Options options) : settings_(read_settings(std::move(options))) {}

Client& PerThread::here() const {
  auto& all = loop::Loop::current().attachments().get<ClientsOfLoop>().all;
  const auto found = std::ranges::find(all, settings_, &ClientsOfLoop::One::settings);
  if (found != all.end()) return *found->client;
  all.push_back({settings_, std::unique_ptr<Client>(new Client(settings_))});
  return *all.back().client;
}

}  // namespace skua::redis
