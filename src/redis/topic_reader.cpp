// SPDX-License-Identifier: MIT
// In: names of logs. Out: their messages, in order, each once, also after the connection was lost:
// a log goes on after the last id that came.
#include "redis/topic_reader.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <utility>

#include "loop/loop.hpp"

namespace skua::redis {
namespace {

using topics::MessageId;

constexpr std::size_t most_at_once = 64;
constexpr Duration longest_wait = 5s;    // of one command; so often a dead connection is noticed
constexpr Duration wait_grace = 3s;      // for its reply
constexpr Duration sync_limit = 2s;      // of a command, before Redis is taken for away
constexpr Duration linger = 30s;         // of a log that nobody watches any more
constexpr std::size_t sync_batch = 256;  // commands

Command newest_of(const std::string& stream) {
  Command command("XREVRANGE", stream, "+", "-", "COUNT", 1);
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

TopicReader::TopicReader(Client& client, const TopicSettings& settings, topics::Feed& feed,
                         TopicAway& away)
    : client_(client),
      settings_(settings),
      feed_(feed),
      away_(away),
      backoff_(settings.min_backoff, settings.max_backoff),
      count_(most_at_once) {}

// Logs --------------------------------------------------------------------------------------------

Task<Result<void, Problem>> TopicReader::watch(std::string name, const Watching& watching) {
  Backoff backoff(settings_.min_backoff, settings_.max_backoff);
  while (watching.is_wanted()) {
    const auto found = logs_.find(name);
    if (found != logs_.end()) {
      ++found->second.users;
      co_return Result<void, Problem>();
    }
    Command command = newest_of(settings_.stream(name));
    const Result<Reply, Problem> newest = co_await client_.command(std::move(command));
    if (newest && !logs_.contains(name)) {
      const MessageId at = first_id_of(*newest);
      logs_.emplace(name, Log{.position = at});
      feed_.begin(name, at);
      wake();
    } else if (!newest) {
      if (!is_passing(newest.error())) co_return newest.error();
      co_await sleep(backoff.next());
    }
  }
  co_return Problem{.error = Errc::Cancelled};
}

void TopicReader::unwatch(const std::string& name) {
  const auto found = logs_.find(name);
  if (found == logs_.end() || --found->second.users != 0) return;
  found->second.left = loop::Loop::current().now();
}

void TopicReader::sweep() {
  const loop::Instant now = loop::Loop::current().now();
  std::erase_if(logs_, [&](const auto& one) {
    const auto& [name, log] = one;
    if (log.users != 0 || now < later(log.left, linger)) return false;
    feed_.end(name);
    return true;
  });
}

std::vector<std::string> TopicReader::watched_members() const {
  const std::string kind = topics::member_changes_of({});
  std::vector<std::string> watched;
  for (const auto& [name, log] : logs_) {
    if (name.starts_with(kind) && log.users != 0) watched.push_back(name.substr(kind.size()));
  }
  return watched;
}

// A command that waits does not know of new logs, so its wait has to end.
void TopicReader::wake() {
  ++changes_;
  if (is_waking_ || !is_reading_) return;
  is_waking_ = true;
  tasks_.spawn(end_wait());
}

Task<> TopicReader::end_wait() {
  while (is_reading_ && read_changes_ != changes_) {
    std::vector<Command> commands;
    commands.emplace_back("XADD", settings_.wake(), "MAXLEN", 1, "*", "w", 1);
    commands.emplace_back("PEXPIRE", settings_.wake(), 60'000);
    for (Command& command : commands) command.within(sync_limit);
    const Replies replies = co_await client_.pipeline(std::move(commands));
    if (!replies.front()) break;  // then the wait ends, too, or by itself before long
  }
  is_waking_ = false;
}

// Reading -----------------------------------------------------------------------------------------

Task<> TopicReader::run(std::function<void()> on_return) {
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
    needs_sync_ = true;
    away_.set(done.error());
    co_await sleep(backoff_.next());
  }
}

Task<Result<void, Problem>> TopicReader::step(const std::function<void()>& on_return) {
  is_reading_ = false;
  if (needs_sync_) {
    const Result<void, Problem> synced = co_await sync();
    if (!synced) co_return synced.error();
    needs_sync_ = false;
    wake_position_ = {};  // the old one may be of another life of Redis
    away_.set(std::nullopt);
    on_return();
  }
  const Result<void, Problem> done = co_await read();
  co_return done;
}

/// Checks that Redis is there, and that it has not forgotten what was read already.
Task<Result<void, Problem>> TopicReader::sync() {
  std::vector<std::string> names;
  names.reserve(logs_.size());
  for (const auto& [name, log] : logs_) names.push_back(name);
  for (std::size_t i = 0; i == 0 || i < names.size(); i += sync_batch) {
    const std::size_t count = std::min(sync_batch, names.size() - i);
    std::vector<Command> commands;
    commands.emplace_back("PING");
    commands.back().within(sync_limit);
    for (std::size_t k = i; k < i + count; ++k) {
      commands.push_back(newest_of(settings_.stream(names[k])));
    }
    const Replies replies = co_await client_.pipeline(std::move(commands));
    for (std::size_t k = 0; k < replies.size(); ++k) {
      if (!replies[k]) co_return replies[k].error();
      if (replies[k]->is_error()) {
        co_return Problem{.error = Error(Errc::ErrorReply, "redis"),
                          .text = std::string(replies[k]->text())};
      }
      if (k != 0) check_position(names[i + k - 1], *replies[k]);
    }
  }
  co_return Result<void, Problem>();
}

void TopicReader::check_position(const std::string& name, const Reply& newest) {
  const auto found = logs_.find(name);
  if (found == logs_.end()) return;
  const MessageId last = first_id_of(newest);
  if (last >= found->second.position) return;
  found->second.position = last;
  feed_.restart(name, last);
}

Task<Result<void, Problem>> TopicReader::read() {
  Command command = read_command();
  is_reading_ = true;
  read_changes_ = changes_;
  const Result<Reply, Problem> reply = co_await client_.command(std::move(command));
  is_reading_ = false;
  if (!reply) {
    if (reply.error().code() == Errc::MessageTooLong) count_ = std::max<std::size_t>(count_ / 2, 1);
    co_return reply.error();
  }
  count_ = std::min(count_ * 2, most_at_once);
  if (!deliver(*reply)) co_return Problem::from(Error(Errc::MalformedReply, "XREAD"));
  co_return Result<void, Problem>();
}

Command TopicReader::read_command() const {
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(longest_wait);
  Command command("XREAD", "COUNT", count_, "BLOCK", milliseconds.count(), "STREAMS");
  command.add(settings_.wake());
  for (const auto& [name, log] : logs_) command.add(settings_.stream(name));
  command.add(wake_position_.to_string());
  for (const auto& [name, log] : logs_) command.add(log.position.to_string());
  command.within(longest_wait + wait_grace);
  return command;
}

bool TopicReader::deliver(const Reply& reply) {
  if (reply.is_null()) return true;  // nothing came in time
  const auto parts = reply.elements();
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
    const std::string_view key = parts[i].text();
    if (!key.starts_with(settings_.base)) return false;
    if (!deliver(std::string(key.substr(settings_.base.size())), parts[i + 1])) return false;
  }
  return true;
}

bool TopicReader::deliver(const std::string& name, const Reply& elements) {
  const auto log = logs_.find(name);
  const bool is_wake = name.starts_with("w:");
  for (const Reply& element : elements.elements()) {
    topics::EntryPtr entry = entry_of(element);
    if (entry == nullptr) return false;
    if (is_wake) {
      wake_position_ = entry->id;
    } else if (log != logs_.end() && entry->id > log->second.position) {
      log->second.position = entry->id;
      feed_.append(name, std::move(entry));
    }
  }
  return true;
}

}  // namespace skua::redis
