// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/redis_command.hpp"
#include "skua/redis_reply.hpp"
#include "skua/task.hpp"
#include "skua/tls.hpp"
#include "skua/waiter.hpp"

// A client of Redis 6 or newer, and of servers that speak RESP3 like it. Everything belongs to the
// loop on which it is made, see skua/loop.hpp; PerThread has a client for each.

namespace skua::redis {

struct Settings;
class Subscriber;
class TopicReader;
class Topology;

/// How several servers belong together.
enum class Mode : std::uint8_t {
  Single,    ///< one server
  Sentinel,  ///< Sentinels know which server is the master
  Cluster,   ///< each key is on one of several nodes
};

/// Options of a client.
struct Options {
  /// `redis://user:password@host:port/database`, where only the host is required; `rediss://` for
  /// TLS; or `unix:/path`. The address of the server, of a node, or of a Sentinel.
  std::string url = "redis://127.0.0.1:6379";
  Mode mode = Mode::Single;
  /// More Sentinels, or nodes to ask for the others: `host:port`.
  std::vector<std::string> nodes{};
  std::string master{};    ///< Sentinel: the name of the master, as in `sentinel monitor NAME ...`
  std::string user{};      ///< instead of the URL's; empty and a password: `default`
  std::string password{};  ///< instead of the URL's
  std::string sentinel_user{};      ///< for the Sentinels, which the URL's are not for
  std::string sentinel_password{};  ///< likewise; empty: none
  std::string client_name{};        ///< shown by CLIENT LIST; without spaces; empty: none
  ClientTlsOptions tls{};           ///< for `rediss://`
  /// The name that certificates must be valid for; empty: the host that is connected to, which is
  /// an address if a Sentinel or a node told it.
  std::string server_name{};

  // These are positive.
  Duration timeout = 5s;  ///< of a command that does not set one; blocking commands have none
  Duration connect = 5s;  ///< to resolve the name, connect, speak TLS and log in
  /// A server that owes replies and sends nothing for this long is given up; not by blocking
  /// commands.
  Duration stall = 10s;
  Duration min_backoff = 50ms;  ///< before the second attempt to connect; doubles with each
  Duration max_backoff = 5s;    ///< a random part of up to a half is left out

  /// Commands of one server that wait, for a connection or for their replies; a pipeline or a
  /// transaction counts as one. More end with Overloaded at once. In a cluster, also those that
  /// wait for the map of slots or the next attempt, as many times as it has nodes.
  std::size_t max_waiting = 10'000;
  std::size_t max_unsent_bytes = 64_MiB;  ///< of them, likewise
  std::size_t max_connections = 64;       ///< to one server, for blocking commands; likewise
  std::size_t max_reply_bytes = 64_MiB;  ///< of one reply in memory; a larger one is MessageTooLong
  std::size_t max_reply_depth = 32;      ///< of arrays in arrays; likewise
};

/// The result of each command of a pipeline. Replies that are errors are values here.
using Replies = std::vector<Result<Reply, Problem>>;

/// Returns the first word of an error that a server replied, `WRONGTYPE`; empty for other problems.
[[nodiscard]] SKUA_API std::string_view error_code(
    const Problem& problem SKUA_LIFETIMEBOUND) noexcept;

/// Channels to subscribe to. A class of shard channels of a cluster has to be in one slot, as those
/// with the same hash tag are.
class SKUA_API Channels final {
 public:
  Channels& channel(std::string_view name);
  /// Adds all channels whose names match a pattern: `news.*`.
  Channels& pattern(std::string_view pattern);
  /// Adds a shard channel, which lives on the node of its slot (Redis 7).
  Channels& shard(std::string_view name);

 private:
  friend class Subscriber;
  std::vector<std::string> channels_;
  std::vector<std::string> patterns_;
  std::vector<std::string> shards_;
};

/// The fate of messages that come faster than they are taken.
enum class Overflow : std::uint8_t {
  DropOldest,  ///< the next message is a gap
  Close,       ///< the subscription ends with Overloaded
};

/// Options of a subscription.
struct SubscribeOptions {
  std::size_t max_messages = 1'000;  ///< that wait
  std::size_t max_bytes = 16_MiB;    ///< of their texts
  Overflow overflow = Overflow::DropOldest;
};

/// A message of a channel, or a gap.
struct Message {
  enum class Kind : std::uint8_t {
    Message,
    /// Messages may have been lost here: the connection was, or too many waited. A program that
    /// needs them all reads the current state now.
    Gap,
  };
  Kind kind = Kind::Message;
  std::string channel{};
  std::string pattern{};  ///< the one that matched; empty without one
  std::string payload{};
};

/// Subscriptions over a connection of their own, which is made anew when it is lost.
///
/// Lifetime:  belongs to its loop, and may outlive its client, whose end ends it.
class SKUA_API Subscription final {
 public:
  Subscription(Subscription&&) noexcept;
  Subscription& operator=(Subscription&&) noexcept;
  /// Unsubscribes.
  ~Subscription();

  /// Returns the next message. One task at a time.
  ///
  /// Waits for: a message, also while the server is away.
  /// Ends with: Overloaded, see Overflow; ErrorReply if the server denies a channel or the login
  ///            (WRONGPASS, NOAUTH, NOPERM; other refusals are waited for); Closed if the client is
  ///            destroyed.
  Task<Result<Message, Problem>> next();
  /// Subscribes to more channels. What the server says to them, next() tells.
  void add(const Channels& channels);
  void remove(const Channels& channels);

 private:
  friend class Client;
  explicit Subscription(std::shared_ptr<Subscriber> subscriber) noexcept;
  std::shared_ptr<Subscriber> subscriber_;  // shared with the task that waits
};

/// A client. Commands of many tasks share a connection, on which they are pipelined; blocking
/// commands get one of their own.
///
/// ```cpp
/// skua::Task<> count(skua::redis::Client& client) {
///   const auto visits = co_await client.command("INCR", "visits");
///   if (visits) std::printf("%lld\n", static_cast<long long>(visits->integer().value_or(0)));
/// }
/// ```
///
/// Connections are made when first needed, and anew when lost. A command that was not sent waits
/// for that; one that was sent and got no reply fails, since it may have been executed. Dropping a
/// task does not take back a command that was sent.
class SKUA_API Client final {
 public:
  /// Ends with: std::invalid_argument if an option is malformed;
  ///            Exception if a file of TLS is unusable;
  ///            std::logic_error on a thread without a loop.
  explicit Client(std::string_view url);
  explicit Client(Options options);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  /// Closes the connections. Tasks that wait get Closed.
  ~Client();

  /// Sends a command and returns its reply.
  ///
  /// Waits for: a connection and the reply, at most Command::within() or Options::timeout.
  /// Ends with: ErrorReply, with the server's text, see error_code(); TimedOut, Closed, Reset: then
  ///            it is unknown whether the command was executed; Overloaded, or why there is no
  ///            connection: then it was not; MalformedReply, MessageTooLong; Unsupported for
  ///            commands that change the state of a connection.
  template <class... A>
  Task<Result<Reply, Problem>> command(std::string_view name, const A&... arguments) {
    return command(Command(name, arguments...));
  }
  Task<Result<Reply, Problem>> command(Command command);

  /// Sends commands at once, and returns the results in the same order. In a cluster, each node
  /// gets its part; the parts run side by side.
  ///
  /// Waits for: all replies, at most the longest time of a command. If one blocks, the commands get
  ///            a connection of their own, so that WAIT is about those before it.
  Task<Replies> pipeline(std::vector<Command> commands);

  /// Runs commands as a transaction, MULTI and EXEC, and returns their replies, which may be
  /// errors. In a cluster, all keys have to be in one slot.
  ///
  /// Ends with: the errors of command(); ErrorReply if the server refuses a command: then none was
  ///            executed. If it refuses MULTI itself, as it may be set up to, each command was
  ///            executed on its own; the text says so.
  Task<Result<std::vector<Reply>, Problem>> transaction(std::vector<Command> commands);

  /// Runs a script: EVALSHA, and EVAL if the server does not know it.
  ///
  /// Lifetime:  `script` outlives the task.
  template <class... A>
  Task<Result<Reply, Problem>> eval(const Script& script, const Keys& keys, const A&... arguments) {
    ScriptCall call(script, keys);
    (call.add(arguments), ...);
    return eval(std::move(call));
  }
  Task<Result<Reply, Problem>> eval(ScriptCall call);

  /// Subscribes to channels.
  ///
  /// Waits for: the server's confirmation, at most Options::connect.
  /// Ends with: the errors of connecting; ErrorReply if the server refuses a channel; Unsupported
  ///            if the shard channels are in several slots.
  Task<Result<Subscription, Problem>> subscribe(Channels channels, SubscribeOptions options = {});

 private:
  friend class PerThread;
  friend class TopicReader;
  explicit Client(std::shared_ptr<const Settings> settings);
  static Task<Result<Subscription, Problem>> begin(Subscription subscription,
                                                   std::shared_ptr<Subscriber> subscriber,
                                                   Channels channels);

  std::shared_ptr<const Settings> settings_;  // shared with other threads' clients
  std::shared_ptr<Topology> topology_;        // shared with tasks that wait
  std::vector<std::weak_ptr<Subscriber>> subscribers_;
  skua::detail::OwnThread thread_;
};

/// A client for each thread of a server, made when the thread first uses it.
///
/// ```cpp
/// const skua::redis::PerThread redis("redis://cache.example.com");
/// router.get("/visits", [&redis](skua::Request&) -> skua::Task<skua::Response> {
///   const auto visits = co_await redis->command("INCR", "visits");
///   co_return visits ? visits->to_string() : "unknown";
/// });
/// ```
/// Lifetime:  the clients end with their loops.
class SKUA_API PerThread final {
 public:
  /// Ends with: std::invalid_argument
  ///            if an option is malformed;
  ///            Exception if a file of TLS is unusable.
  explicit PerThread(std::string_view url);
  explicit PerThread(Options options);

  /// Returns the client of this thread's loop.
  ///
  /// Ends with: std::logic_error on a thread without a loop.
  [[nodiscard]] Client& here() const;
  Client* operator->() const { return &here(); }

 private:
  std::shared_ptr<const Settings> settings_;  // shared with the clients
};

}  // namespace skua::redis
