// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"

namespace skua {

class Metrics;
class Request;
class TopicBus;
class WebSocket;

namespace topics {
class Hub;
class Lease;
class Reading;
}  // namespace topics

/// A message of a topic, or a gap between messages.
struct SKUA_API TopicMessage {
  enum class Kind : std::uint8_t {
    Message,
    /// Messages are missing here: they are no longer kept, or were lost with the store. A program
    /// that needs them all reads the current state now.
    Gap,
    Start,  ///< only for formats of Topics::forward(): where the subscription begins
  };
  Kind kind = Kind::Message;
  std::string id{};  ///< `1764193732123-0`: a client that sends it back resumes after it
  std::string text{};

  /// Returns `{"id":"...","text":"..."}`; of a gap `{"id":"...","gap":true}`; of a start its id.
  [[nodiscard]] std::string to_json() const;
};

/// The beginning of a subscription; by default that is what is published from now on.
///
/// Lifetime:  the view is read during the call only.
struct TopicStart {
  /// The id of the last message that the subscriber has seen: it gets all later ones that are kept,
  /// after a gap if that is not all of them. An id that makes no sense is a gap, too.
  std::string_view after{};
  /// Without `after`: begins with at most so many of the newest messages that are kept.
  std::size_t history = 0;
};
static_assert(std::is_trivially_copyable_v<TopicStart>);

/// The fate of a subscriber that is so slow that messages are dropped before it has taken them.
enum class SlowSubscriber : std::uint8_t {
  Gap,    ///< it is told, and goes on with the oldest message that is kept
  Close,  ///< it ends with Overloaded: a WebSocket with 1008, an event stream is cut off
};

/// Options of topics. Each process keeps messages in memory for its own subscribers; what a bus
/// keeps for all processes is among the options of the bus.
struct TopicsOptions {
  /// Messages of a topic that are kept for subscribers to come, at least; 0: none. With a bus, they
  /// only save it questions.
  std::size_t history = 0;
  Duration keep = 10min;  ///< without a bus: they are kept for so long
  /// Messages of a topic that wait for its slowest subscriber, at most. With a bus, a subscriber
  /// that falls behind goes on with what the bus keeps.
  std::size_t max_waiting = 1'000;
  std::size_t topic_bytes = 4_MiB;  ///< of the messages of a topic in memory; one may be larger
  /// Bounds the messages of all topics in memory. Beyond that, topics without a subscriber are
  /// forgotten, the longest without a message first, and then a topic keeps fewer.
  std::size_t total_bytes = 128_MiB;
  /// Topics without a subscriber whose messages are kept, at most; then they are forgotten
  /// likewise.
  std::size_t kept_topics = 50'000;
  std::size_t message_bytes = 1_MiB;  ///< of a message: MessageTooLong
  SlowSubscriber slow_subscriber = SlowSubscriber::Gap;
  /// Called for each message of post() that could not be published, on any thread. What it throws
  /// is dropped.
  std::function<void(const Problem&)> on_problem{};
};

/// Counters of Topics since they were made, in this process.
struct TopicCounters {
  std::uint64_t published = 0;      ///< messages that publish() and post() took
  std::uint64_t unpublished = 0;    ///< those of them that failed, or of which it is not known
  std::uint64_t delivered = 0;      ///< messages to subscribers, each counted on its own
  std::uint64_t gaps = 0;           ///< that subscribers were told of
  std::uint64_t subscriptions = 0;  ///< at present
  std::uint64_t bus_losses = 0;     ///< times that the bus went away
  std::uint64_t topics = 0;         ///< in memory, at present
  std::uint64_t bytes = 0;          ///< of their messages, at present
  std::uint64_t forgotten = 0;      ///< topics that were dropped for others: see total_bytes
};

/// A subscription: the messages of a topic, one after the other, each once.
///
/// Lifetime:  belongs to its loop, and outlives the tasks of next(). It may outlive the Topics,
///            whose end ends it.
class SKUA_API TopicSubscription final {
 public:
  TopicSubscription(TopicSubscription&&) noexcept;
  TopicSubscription& operator=(TopicSubscription&&) noexcept;
  ~TopicSubscription();

  /// Returns the next message, or a gap. One task at a time.
  ///
  /// Waits for: a message, also while the bus is away.
  /// Ends with: Closed if the Topics end; Overloaded, see SlowSubscriber; ErrorReply if the bus
  ///            refuses.
  Task<Result<TopicMessage, Problem>> next();
  /// Returns the id of the last message that next() has returned, or of where it begins.
  [[nodiscard]] std::string position() const;

 private:
  friend class Topics;
  explicit TopicSubscription(std::unique_ptr<topics::Reading> reading) noexcept;
  std::unique_ptr<topics::Reading> reading_;
};

/// Somebody who is present in a topic.
struct TopicMember {
  std::string name{};
  std::string data{};  ///< anything about them, as JSON
  bool operator==(const TopicMember&) const = default;
};

/// Members of a topic who came and who went, each sorted by name.
struct TopicMemberChange {
  std::vector<TopicMember> joined{};
  std::vector<TopicMember> left{};
};

/// A member's presence, which ends with the object. With a bus, the members of a process that was
/// killed vanish after a while.
class SKUA_API TopicPresence final {
 public:
  TopicPresence(TopicPresence&&) noexcept;
  TopicPresence& operator=(TopicPresence&&) noexcept;
  ~TopicPresence();

 private:
  friend class Topics;
  explicit TopicPresence(std::unique_ptr<topics::Lease> lease) noexcept;
  std::unique_ptr<topics::Lease> lease_;
};

/// The members of a topic, each time that they change.
///
/// Lifetime:  as for a TopicSubscription.
class SKUA_API TopicMembers final {
 public:
  TopicMembers(TopicMembers&&) noexcept;
  TopicMembers& operator=(TopicMembers&&) noexcept;
  ~TopicMembers();

  /// Returns the members: at first those of now, and then when they differ from the ones that it
  /// has returned. Sorted by name; who is there twice is in it twice.
  ///
  /// Waits for: a change.
  /// Ends with: the errors of TopicSubscription::next().
  Task<Result<std::vector<TopicMember>, Problem>> next();
  /// Returns how the members differ from the last ones: at first, all have joined. In a room of a
  /// thousand it costs less than next(), which returns all of them to each who watches.
  ///
  /// Waits for: a change.
  /// Ends with: the errors of TopicSubscription::next().
  Task<Result<TopicMemberChange, Problem>> next_change();

 private:
  friend class Topics;
  struct State;
  explicit TopicMembers(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

/// Options of Topics::poll().
struct PollOptions {
  Duration wait = 20s;             ///< for a message; less than the patience of proxies
  std::size_t max_messages = 100;  ///< in a response
};

/// Topics: what is published to one reaches all its subscribers, be they WebSockets, streams of
/// server-sent events or long polls; in one process, or in all that share a bus.
///
/// ```cpp
/// skua::Topics topics;
/// router.post("/news", [&](skua::Request& request) {
///   topics.post("news", std::string(request.body()));
///   return skua::Status::Accepted;
/// });
/// router.get("/news", [&](skua::Request& request) { return topics.events(request, "news"); });
/// ```
/// Messages have ids, which ascend within a topic. All subscribers get them in that order.
///
/// Lifetime:  outlives the server. With a bus, it has a thread of its own: make it after
///            ShutdownSignals, like a server.
class SKUA_API Topics final {
 public:
  /// For this process only.
  explicit Topics(TopicsOptions options = {});
  /// For all processes that share a bus, see redis::topic_bus(). A bus belongs to one object.
  ///
  /// Ends with: Exception if the machine has no back end for the loop of the bus.
  explicit Topics(std::shared_ptr<TopicBus> bus, TopicsOptions options = {});
  Topics(const Topics&) = delete;
  Topics& operator=(const Topics&) = delete;
  /// Closes; messages of post() that have not left are dropped.
  ~Topics();

  /// Publishes a text, which should be UTF-8, and returns the message's id. If two publications
  /// have the same `once`, not empty, and are less than two minutes apart, only the first counts,
  /// and the second returns its id: for requests that are repeated. Without a bus, the last million
  /// of them are remembered, about 80 bytes each: beyond, the oldest are forgotten sooner.
  ///
  /// Waits for: the bus, see its options. It publishes each message once, however often it has to
  ///            try.
  /// Ends with: MessageTooLong; with a bus: TimedOut, after which it is unknown whether the message
  ///            will come; Overloaded if too many wait, ErrorReply if the bus refuses, Closed.
  Task<Result<std::string, Problem>> publish(std::string topic, std::string text,
                                             std::string once = {});
  /// Publishes a text without waiting; TopicsOptions::on_problem hears of failures. Any thread.
  void post(const std::string& topic, std::string text);

  /// Subscribes to a topic.
  ///
  /// Waits for: the bus, without limit.
  /// Ends with: Closed, ErrorReply; Overloaded if the bus has too many topics.
  Task<Result<TopicSubscription, Problem>> subscribe(const std::string& topic,
                                                     TopicStart start = {});

  /// Returns the messages as server-sent events. A client that reconnects goes on after its
  /// `Last-Event-ID`; `?after=ID` does the same for a first request. A gap is an event of the type
  /// `gap`.
  [[nodiscard]] Response events(const Request& request, const std::string& topic,
                                TopicStart start = {});
  /// Answers a long poll: with the messages after `?after=ID`, at once if there are any, else when
  /// the next one comes or the time is over; without `after`, at once with where to begin.
  /// `{"messages":[{"id":"...","text":"..."}],"after":"...","gap":false}`; the next poll sends that
  /// `after` back.
  ///
  /// Lifetime:  the request is read during the call only.
  [[nodiscard]] Task<Response> poll(const Request& request, const std::string& topic,
                                    PollOptions options = {});
  /// Sends the messages to a WebSocket until it is closed: as JSON, see TopicMessage::to_json().
  /// The first text is the start. Run it beside receive(), in a Scope.
  ///
  /// Waits for: the peer, if WebSocketOptions::slow_peer is SlowPeer::Wait: messages wait meanwhile
  ///            in the topic.
  /// Ends with: the socket closed if the subscription ends.
  /// Lifetime:  the socket outlives the task.
  Task<> forward(WebSocket& socket, const std::string& topic, TopicStart start = {});
  /// Likewise, in a format of its own: a function that makes the text for a message, a gap or the
  /// start. An empty text is not sent.
  template <class F>
    requires std::is_invocable_r_v<std::string, F&, const TopicMessage&>
  Task<> forward(WebSocket& socket, const std::string& topic, TopicStart start, F&& format) {
    static_assert(SafeInAwait<F>,
                  "the format is a named function object, or captures only trivially copyable "
                  "values: GCC 12 would destroy other captures twice");
    return forward_as(socket, topic, start, Format(std::forward<F>(format)));
  }

  /// Makes somebody a member of a topic. Does not wait: while a bus is away, it is told later.
  [[nodiscard]] TopicPresence enter(std::string topic, TopicMember member);
  /// Returns the members of a topic, of all processes, sorted by name.
  ///
  /// Waits for: the bus.
  /// Ends with: TimedOut, Closed, ErrorReply.
  Task<Result<std::vector<TopicMember>, Problem>> members(std::string topic);
  /// Returns the members each time that they change.
  [[nodiscard]] TopicMembers watch_members(std::string topic);

  /// Any thread.
  [[nodiscard]] TopicCounters counters() const;
  /// Returns why the bus is away, if it is. Any thread.
  [[nodiscard]] Result<void, Problem> check() const;
  /// Ends all subscriptions: streams end, polls are answered. Any thread but one of the bus.
  void close() noexcept;

 private:
  friend void collect_topics(Metrics& metrics, const Topics& topics);
  using Format = std::function<std::string(const TopicMessage&)>;
  static Task<Result<TopicSubscription, Problem>> subscribe_to(
      Task<Result<std::unique_ptr<topics::Reading>, Problem>> opening);
  Task<> forward_as(WebSocket& socket, const std::string& topic, TopicStart start, Format format);

  std::shared_ptr<topics::Hub> hub_;  // shared with subscriptions and streams
};

/// Adds `skua_topics_*`, which are its counters. Call it once for an object of either.
///
/// Lifetime:  the topics may end first.
SKUA_API void collect_topics(Metrics& metrics, const Topics& topics);

}  // namespace skua
