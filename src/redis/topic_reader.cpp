// SPDX-License-Identifier: MIT
// In: names of logs. Out: their messages, in order, each once, also after the connection was lost:
// a log goes on after the last id that came. A channel for each log says that there is more, and
// what was said while nobody heard is found by asking.
#include "redis/topic_reader.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <utility>

#include "loop/loop.hpp"
#include "loop/timed_wait.hpp"
#include "redis/problem.hpp"

namespace skua::redis {
namespace {

using topics::MessageId;

constexpr std::size_t most_at_once = 64;
constexpr Duration check_interval = 5s;   // so often Redis is asked although it has said nothing
constexpr Duration sync_limit = 2s;       // of a command, before Redis is taken for away
constexpr Duration watch_interval = 1s;   // so often it is seen that an answer is not wanted
constexpr Duration linger = 2s;           // of a log that nobody watches any more
constexpr std::size_t most_left = 1'024;  // of these
constexpr std::size_t batch_logs = 256;   // in a pipeline
constexpr SubscribeOptions all_that_is_said{.max_messages = 100'000};

Command newest_of(const std::string& stream) {
  Command command("XREVRANGE", stream, "+", "-", "COUNT", 1);
  command.within(sync_limit);
  return command;
}

Command ping() {
  Command command("PING");
  command.within(sync_limit);
  return command;
}

}  // namespace

bool is_passing(const Problem& why) noexcept {
  switch (why.code()) {
    case Errc::ErrorReply: {
      constexpr std::string_view codes[] = {"LOADING",     "BUSY",     "MASTERDOWN",
                                            "CLUSTERDOWN", "TRYAGAIN", "READONLY"};
      return std::ranges::find(codes, error_code(why)) != std::end(codes);
    }
    case Errc::Unsupported:
    case Errc::MalformedReply:
    case Errc::MessageTooLong:
    case Errc::TlsCertificate:
    case Errc::TlsConfiguration: return false;
    default: return true;
  }
}

topics::EntryPtr entry_of(const Reply& element) {
  const std::optional<MessageId> id = topics::parse_message_id(element[0].text());
  if (!id) return nullptr;
  const Reply* const text = element[1].find("t");
  const Reply* const previous = element[1].find("p");
  return topics::make_entry(
      *id, previous == nullptr ? std::nullopt : topics::parse_message_id(previous->text()),
      text == nullptr ? std::string() : std::string(text->text()));
}

MessageId first_id_of(const Reply& elements) {
  return topics::parse_message_id(elements[0][0].text()).value_or(MessageId());
}

/// A log that is watched, or was a moment ago.
struct TopicReader::Log final : base::ListNode {
  explicit Log(std::string own_name) : name(std::move(own_name)) {}

  const std::string name;
  MessageId position{};
  std::size_t users = 0;             // none: it is among those that were left
  loop::Instant left{};              // when the last of them went
  std::optional<Problem> refusal{};  // why it did not begin
  skua::detail::WaiterList changed;
  bool is_begun = false;
  bool is_named = false;
  bool is_over = false;
};

/// A task that waits for a log to begin.
class TopicReader::User {
 public:
  User(TopicReader& reader, LogPtr log) noexcept : reader_(reader), log_(std::move(log)) {
    if (log_->users++ != 0 || !log_->is_linked()) return;
    log_->unlink();
    --reader_.left_count_;
  }
  User(const User&) = delete;
  User& operator=(const User&) = delete;
  ~User() {
    if (!stays_) reader_.leave(*log_);
  }

  Log& operator*() const noexcept { return *log_; }
  /// A lease ends the use.
  void stay() noexcept { stays_ = true; }

 private:
  TopicReader& reader_;
  const LogPtr log_;
  bool stays_ = false;
};

TopicReader::TopicReader(Client& client, const TopicSettings& settings, topics::Feed& feed,
                         TopicAway& away)
    : client_(client),
      settings_(settings),
      feed_(feed),
      away_(away),
      backoff_(settings.min_backoff, settings.max_backoff),
      count_(most_at_once) {}

TopicReader::~TopicReader() {
  if (subscriber_ != nullptr) subscriber_->end(problem_of(Errc::Closed));
}

// Logs --------------------------------------------------------------------------------------------

Task<Result<void, Problem>> TopicReader::watch(std::string name, const Watching& watching) {
  const LogPtr log = log_of(name);
  if (log == nullptr) {
    co_return Problem{.error = Error(Errc::Overloaded, "topics"),
                      .text = "too many topics: redis::TopicBusOptions::max_topics allows " +
                              std::to_string(settings_.options.max_topics)};
  }
  User user(*this, log);
  loop::Loop& loop = loop::Loop::current();
  while (!log->is_begun && !log->refusal && watching.is_wanted()) {
    co_await loop::TimedWait(loop, log->changed, watch_interval);
  }
  const std::optional<Problem>& refusal = log->refusal;
  if (refusal) co_return *refusal;
  if (!log->is_begun) co_return Problem{.error = Errc::Cancelled};
  user.stay();
  co_return Result<void, Problem>();
}

/// Returns null if there are too many.
TopicReader::LogPtr TopicReader::log_of(const std::string& name) {
  const auto found = logs_.find(name);
  if (found != logs_.end()) return found->second;
  const std::size_t most = settings_.options.max_topics;
  if (logs_.size() >= most) {
    end_left(left_count_ - std::min(left_count_, logs_.size() - most + 1));
    if (logs_.size() >= most) return nullptr;
  }
  auto log = std::make_shared<Log>(name);
  logs_.emplace(name, log);
  log->left = loop::Loop::current().now();
  left_.push_back(*log);
  ++left_count_;
  if (subscriber_ != nullptr) {
    Channels channel;
    channel.channel(settings_.stream(name));
    subscriber_->add(channel);
  }
  this->name(log);
  return log;
}

void TopicReader::unwatch(const std::string& name) noexcept {
  const auto found = logs_.find(name);
  if (found != logs_.end()) leave(*found->second);
}

void TopicReader::leave(Log& log) noexcept {
  if (--log.users != 0 || log.is_over) return;
  log.left = loop::Loop::current().now();
  left_.push_back(log);
  ++left_count_;
  end_left(most_left);
}

void TopicReader::sweep() noexcept { end_left(most_left); }

/// Ends logs that were left long ago, and the oldest beyond `most`.
void TopicReader::end_left(std::size_t most) noexcept {
  const loop::Instant now = loop::Loop::current().now();
  while (!left_.empty() && (left_count_ > most || now >= later(left_.front().left, linger))) {
    end(left_.front());
  }
}

void TopicReader::end(Log& log) noexcept {
  const auto found = logs_.find(log.name);
  const LogPtr last = found->second;
  if (log.is_linked()) {
    log.unlink();
    --left_count_;
  }
  log.is_over = true;
  logs_.erase(found);
  if (log.is_begun) feed_.end(log.name);
  if (subscriber_ == nullptr) return;
  try {
    Channels channel;
    channel.channel(settings_.stream(log.name));
    subscriber_->remove(channel);
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): what it says is not heard
  }
}

void TopicReader::begin(Log& log, MessageId at) {
  log.position = at;
  feed_.begin(log.name, at);
  log.is_begun = true;
  log.changed.wake_all();
}

void TopicReader::refuse(const LogPtr& log, const Problem& why) {
  log->refusal = why;
  log->changed.wake_all();
  end(*log);
}

std::vector<std::string> TopicReader::watched_members() const {
  const std::string kind = topics::member_changes_of({});
  std::vector<std::string> watched;
  for (auto at = logs_.lower_bound(kind); at != logs_.end() && at->first.starts_with(kind); ++at) {
    if (at->second->users != 0) watched.push_back(at->first.substr(kind.size()));
  }
  return watched;
}

// What Redis says ---------------------------------------------------------------------------------

TopicReader::LogPtr TopicReader::log_of_channel(std::string_view channel) const {
  if (!channel.starts_with(settings_.base)) return nullptr;
  const auto found = logs_.find(channel.substr(settings_.base.size()));
  return found == logs_.end() ? nullptr : found->second;
}

void TopicReader::name(const LogPtr& log) {
  if (log->is_named) return;
  named_.push_back(log);
  log->is_named = true;
  changed_.wake_all();
}

// Nobody may have heard what was said, and another version of this library says nothing.
void TopicReader::name_some() {
  auto at = logs_.upper_bound(checked_);
  for (std::size_t i = 0; i < std::min(logs_.size(), batch_logs); ++i, ++at) {
    if (at == logs_.end()) at = logs_.begin();
    name(at->second);
    checked_ = at->first;
  }
}

void TopicReader::hear(const Message& message) {
  if (message.kind == Message::Kind::Gap) {
    needs_sync_ = true;
    return changed_.wake_all();
  }
  const LogPtr log = log_of_channel(message.channel);
  if (log == nullptr) return;
  const std::optional<MessageId> id = topics::parse_message_id(message.payload);
  if (!id || *id > log->position) name(log);
}

void TopicReader::lose(const Problem& why) {
  away_.set(why);
  needs_sync_ = was_away_ = true;
  changed_.wake_all();
}

Task<> TopicReader::listen() {
  Backoff backoff(settings_.min_backoff, settings_.max_backoff);
  while (true) {
    try {
      co_await listen_once();
    } catch (const std::bad_alloc&) {
      needs_sync_ = true;  // what could not be noted
    }
    co_await sleep(backoff.next());
  }
}

/// Hears what Redis says until it refuses to.
Task<> TopicReader::listen_once() {
  subscriber_ =
      std::make_shared<Subscriber>(client_.settings_, client_.topology_, all_that_is_said);
  subscriber_->watch_connection(
      [this](std::string_view channel) {
        away_.set_refusal(std::nullopt);
        // Messages from before are found, too.
        if (const LogPtr log = log_of_channel(channel)) name(log);
      },
      [this](const Problem& why) { lose(why); });
  Channels channels;
  channels.channel(settings_.node_channel());  // so that there is one
  for (const auto& [name, log] : logs_) channels.channel(settings_.stream(name));
  const auto started = co_await Subscriber::start(subscriber_, std::move(channels));
  static_cast<void>(started.has_value());  // it goes on trying, or next() says why not
  while (true) {
    const Result<Message, Problem> message = co_await Subscriber::next(subscriber_);
    if (!message) {
      away_.set_refusal(message.error());
      co_return;
    }
    hear(*message);
  }
}

// Reading -----------------------------------------------------------------------------------------

Task<> TopicReader::run(std::function<void()> on_return) {
  tasks_.spawn(listen());
  while (true) {
    Result<void, Problem> done;
    try {
      done = co_await step(on_return);
    } catch (const std::bad_alloc&) {
      done = Problem{.error = Error(Errc::OutOfMemory, "redis")};
    }
    if (done) {
      backoff_.reset();
      continue;
    }
    needs_sync_ = was_away_ = true;
    away_.set(done.error());
    co_await sleep(backoff_.next());
  }
}

Task<Result<void, Problem>> TopicReader::step(const std::function<void()>& on_return) {
  loop::Loop& loop = loop::Loop::current();
  const Duration interval = std::min(check_interval, settings_.options.heartbeat);
  if (std::exchange(needs_sync_, false)) {
    const Result<void, Problem> synced = co_await sync();
    if (!synced) co_return synced.error();
    away_.set(std::nullopt);
    if (std::exchange(was_away_, false)) on_return();
    next_check_ = later(loop.now(), interval);
  }
  if (const Duration left = next_check_ - loop.now(); left <= Duration(0)) {
    next_check_ = later(loop.now(), interval);
    name_some();
  } else if (named_.empty()) {
    if (!needs_sync_) co_await loop::TimedWait(loop, changed_, left);
    co_return Result<void, Problem>();
  }
  const Result<void, Problem> done = co_await read();
  co_return done;
}

/// Checks that Redis is there, and that it has not forgotten what was read already.
Task<Result<void, Problem>> TopicReader::sync() {
  std::vector<LogPtr> logs;
  logs.reserve(logs_.size());
  for (const auto& [name, log] : logs_) logs.push_back(log);
  for (std::size_t i = 0; i == 0 || i < logs.size(); i += batch_logs) {
    const std::size_t count = std::min(batch_logs, logs.size() - i);
    std::vector<Command> commands;
    commands.push_back(ping());
    for (std::size_t k = i; k < i + count; ++k) {
      commands.push_back(newest_of(settings_.stream(logs[k]->name)));
    }
    const Replies replies = co_await client_.pipeline(std::move(commands));
    for (std::size_t k = 0; k < replies.size(); ++k) {
      if (!replies[k]) co_return replies[k].error();
      if (k == 0 && replies[k]->is_error()) co_return error_of(*replies[k]);
      if (k == 0 || logs[i + k - 1]->is_over) continue;
      const Result<void, Problem> taken = take(logs[i + k - 1], *replies[k], 0);
      if (!taken) co_return taken;
    }
  }
  co_return Result<void, Problem>();
}

void TopicReader::check_position(const LogPtr& log, MessageId last) {
  if (last > log->position) return name(log);
  if (last == log->position) return;
  log->position = last;
  feed_.restart(log->name, last);
}

/// Reads the logs that were named, some at a time; without any, asks whether Redis is there.
Task<Result<void, Problem>> TopicReader::read() {
  std::vector<LogPtr> logs;
  std::vector<Command> commands;
  std::vector<std::size_t> counts;  // of messages; 0: the log has yet to begin
  while (!named_.empty() && logs.size() < batch_logs) {
    const LogPtr log = std::move(named_.front());
    named_.pop_front();
    log->is_named = false;
    if (log->is_over) continue;
    const std::string stream = settings_.stream(log->name);
    if (log->is_begun) {
      commands.emplace_back("XRANGE", stream, log->position.next().to_string(), "+", "COUNT",
                            count_);
      commands.back().within(sync_limit);
    } else {
      commands.push_back(newest_of(stream));
    }
    counts.push_back(log->is_begun ? count_ : 0);
    logs.push_back(log);
  }
  if (commands.empty()) commands.push_back(ping());
  const Replies replies = co_await client_.pipeline(std::move(commands));
  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (!replies[i]) {
      const bool is_long = replies[i].error().code() == Errc::MessageTooLong;
      if (is_long) count_ = std::max<std::size_t>(count_ / 2, 1);
      co_return replies[i].error();
    }
    if (i >= logs.size() || logs[i]->is_over) continue;
    const Result<void, Problem> taken = take(logs[i], *replies[i], counts[i]);
    if (!taken) co_return taken;
  }
  count_ = std::min(count_ * 2, most_at_once);
  co_return Result<void, Problem>();
}

/// Takes the messages that follow, at most `count`; of 0, the newest one, which was only looked at.
Result<void, Problem> TopicReader::take(const LogPtr& log, const Reply& reply, std::size_t count) {
  if (reply.is_error()) {
    Problem why = error_of(reply);
    if (log->is_begun || is_passing(why)) return why;
    refuse(log, why);
    return {};
  }
  if (!log->is_begun) {
    begin(*log, first_id_of(reply));
  } else if (count == 0) {
    check_position(log, first_id_of(reply));
  } else {
    if (!deliver(log, reply)) return Problem::from(Error(Errc::MalformedReply, "XRANGE"));
    if (reply.size() >= count) name(log);
  }
  return {};
}

bool TopicReader::deliver(const LogPtr& log, const Reply& elements) {
  for (const Reply& element : elements.elements()) {
    topics::EntryPtr entry = entry_of(element);
    if (entry == nullptr) return false;
    if (entry->id <= log->position) continue;
    log->position = entry->id;
    feed_.append(log->name, std::move(entry));
  }
  return true;
}

}  // namespace skua::redis
