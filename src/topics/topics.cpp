// SPDX-License-Identifier: MIT
// The public face of topics: what is published goes to the bus, or without one straight to the
// logs; who subscribes reads them.
#include "skua/topics.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "http/message/json_text.hpp"
#include "skua/async.hpp"
#include "topics/bus.hpp"
#include "topics/hub.hpp"
#include "topics/reading.hpp"

namespace skua {

using topics::EntryPtr;
using topics::Hub;
using topics::MembersPtr;
using topics::Reading;

namespace {

Result<void, Problem> check_size(const Hub& hub, const std::string& text) {
  if (text.size() <= hub.options().message_bytes) return {};
  return Problem{.error = Error(Errc::MessageTooLong, "topics"),
                 .text = "a message of " + std::to_string(text.size()) +
                         " bytes: TopicsOptions::message_bytes allows " +
                         std::to_string(hub.options().message_bytes)};
}

Task<Result<std::string, Problem>> publish_to(std::shared_ptr<Hub> hub, std::string topic,
                                              std::string text, std::string once) {
  const Result<void, Problem> fits = check_size(*hub, text);
  if (!fits) co_return fits.error();
  hub->tally().published.fetch_add(1, std::memory_order_relaxed);
  if (hub->bus() == nullptr) {
    co_return hub->publish_here(topics::messages_of(topic), std::move(text), once);
  }
  Result<std::string, Problem> id =
      co_await hub->bus()->publish(topics::messages_of(topic), std::move(text), std::move(once));
  if (!id) hub->tally().unpublished.fetch_add(1, std::memory_order_relaxed);
  co_return id;
}

Task<Result<MembersPtr, Problem>> members_of(std::shared_ptr<Hub> hub, std::string topic) {
  if (hub->bus() == nullptr) co_return hub->members_here(topic);
  Result<MembersPtr, Problem> members = co_await hub->bus()->members(std::move(topic));
  co_return members;
}

Task<Result<std::vector<TopicMember>, Problem>> copy_of_members(std::shared_ptr<Hub> hub,
                                                                std::string topic) {
  const Result<MembersPtr, Problem> members = co_await members_of(std::move(hub), std::move(topic));
  if (!members) co_return members.error();
  co_return **members;
}

}  // namespace

std::string TopicMessage::to_json() const {
  std::string json = R"({"id":)";
  http::append_json(json, id);
  if (kind == Kind::Message) {
    json += R"(,"text":)";
    http::append_json(json, text);
  } else if (kind == Kind::Gap) {
    json += R"(,"gap":true)";
  }
  return json += '}';
}

// Topics ------------------------------------------------------------------------------------------

Topics::Topics(TopicsOptions options) : Topics(nullptr, std::move(options)) {}

Topics::Topics(std::shared_ptr<TopicBus> bus, TopicsOptions options)
    : hub_(std::make_shared<Hub>(std::move(options), std::move(bus))) {
  hub_->start();
}

Topics::~Topics() { close(); }

void Topics::close() noexcept { hub_->close(); }

Task<Result<std::string, Problem>> Topics::publish(std::string topic, std::string text,
                                                   std::string once) {
  return publish_to(hub_, std::move(topic), std::move(text), std::move(once));
}

void Topics::post(const std::string& topic, std::string text) {
  hub_->tally().published.fetch_add(1, std::memory_order_relaxed);
  const Result<void, Problem> fits = check_size(*hub_, text);
  if (!fits) {
    hub_->failed(fits.error());
  } else if (hub_->bus() == nullptr) {
    hub_->publish_here(topics::messages_of(topic), std::move(text), {});
  } else {
    hub_->bus()->post(topics::messages_of(topic), std::move(text));
  }
}

TopicCounters Topics::counters() const { return hub_->counters(); }

Result<void, Problem> Topics::check() const {
  return hub_->bus() == nullptr ? Result<void, Problem>() : hub_->bus()->check();
}

// Subscriptions -----------------------------------------------------------------------------------

namespace {

Task<Reading::Opened> open_reading(std::shared_ptr<Hub> hub, const std::string& topic,
                                   topics::Start start) {
  return Reading::open(std::move(hub), topics::messages_of(topic), std::move(start));
}

Task<Result<TopicMessage, Problem>> next_message(Reading& reading) {
  const Result<EntryPtr, Problem> entry = co_await reading.next();
  if (!entry) co_return entry.error();
  co_return (*entry)->message;
}

}  // namespace

TopicSubscription::TopicSubscription(std::unique_ptr<Reading> reading) noexcept
    : reading_(std::move(reading)) {}
TopicSubscription::TopicSubscription(TopicSubscription&&) noexcept = default;
TopicSubscription& TopicSubscription::operator=(TopicSubscription&&) noexcept = default;
TopicSubscription::~TopicSubscription() = default;

Task<Result<TopicMessage, Problem>> TopicSubscription::next() { return next_message(*reading_); }

std::string TopicSubscription::position() const { return reading_->position().to_string(); }

Task<Result<TopicSubscription, Problem>> Topics::subscribe(const std::string& topic,
                                                           TopicStart start) {
  return subscribe_to(open_reading(hub_, topic, {std::string(start.after), start.history}));
}

Task<Result<TopicSubscription, Problem>> Topics::subscribe_to(
    Task<Result<std::unique_ptr<Reading>, Problem>> opening) {
  Reading::Opened reading = co_await opening;
  if (!reading) co_return std::move(reading).error();
  co_return TopicSubscription(*std::move(reading));
}

// Presence ----------------------------------------------------------------------------------------

TopicPresence::TopicPresence(std::unique_ptr<topics::Lease> lease) noexcept
    : lease_(std::move(lease)) {}
TopicPresence::TopicPresence(TopicPresence&&) noexcept = default;
TopicPresence& TopicPresence::operator=(TopicPresence&&) noexcept = default;
TopicPresence::~TopicPresence() = default;

TopicPresence Topics::enter(std::string topic, TopicMember member) {
  if (TopicBus* const bus = hub_->bus()) {
    return TopicPresence(bus->enter(std::move(topic), std::move(member)));
  }
  return TopicPresence(hub_->enter_here(topic, std::move(member)));
}

Task<Result<std::vector<TopicMember>, Problem>> Topics::members(std::string topic) {
  return copy_of_members(hub_, std::move(topic));
}

struct TopicMembers::State {
  State(std::shared_ptr<Hub> own_hub, std::string own_topic)
      : hub(std::move(own_hub)), topic(std::move(own_topic)) {}

  using Members = std::vector<TopicMember>;
  Task<Result<Members, Problem>> next();
  Task<Result<TopicMemberChange, Problem>> next_change();
  Task<Result<MembersPtr, Problem>> changed();
  Task<Result<void, Problem>> wait();
  Task<Result<MembersPtr, Problem>> ask();

  const std::shared_ptr<Hub> hub;
  const std::string topic;
  std::unique_ptr<Reading> changes{};
  MembersPtr told{};  // null: nothing yet
};

/// Waits for a change since the members were last asked for.
Task<Result<void, Problem>> TopicMembers::State::wait() {
  if (changes == nullptr) {
    topics::Start now;
    Reading::Opened opened =
        co_await Reading::open(hub, topics::member_changes_of(topic), std::move(now));
    if (!opened) co_return std::move(opened).error();
    changes = *std::move(opened);
  } else if (told) {
    const Result<EntryPtr, Problem> change = co_await changes->next();
    if (!change) co_return change.error();
  }
  while (changes->take_ready() != nullptr) continue;  // one question is enough for all of these
  co_return Result<void, Problem>();
}

/// Asks for the members until there is an answer.
Task<Result<MembersPtr, Problem>> TopicMembers::State::ask() {
  while (true) {
    Result<MembersPtr, Problem> members = co_await members_of(hub, topic);
    if (members || members.error().code() != Errc::TimedOut) co_return members;
    co_await sleep(1s);
  }
}

/// Waits until the members differ from those that were told, and returns them.
Task<Result<MembersPtr, Problem>> TopicMembers::State::changed() {
  while (true) {
    const Result<void, Problem> woken = co_await wait();
    if (!woken) co_return woken.error();
    Result<MembersPtr, Problem> members = co_await ask();
    if (!members) co_return members;
    if (told == nullptr || (told != *members && *told != **members)) co_return members;
  }
}

Task<Result<TopicMembers::State::Members, Problem>> TopicMembers::State::next() {
  const Result<MembersPtr, Problem> members = co_await changed();
  if (!members) co_return members.error();
  told = *members;
  co_return *told;
}

Task<Result<TopicMemberChange, Problem>> TopicMembers::State::next_change() {
  const Result<MembersPtr, Problem> members = co_await changed();
  if (!members) co_return members.error();
  const MembersPtr before = std::exchange(told, *members);
  TopicMemberChange change;
  if (before == nullptr) {
    change.joined = *told;
    co_return change;
  }
  std::ranges::set_difference(*told, *before, std::back_inserter(change.joined), topics::is_before);
  std::ranges::set_difference(*before, *told, std::back_inserter(change.left), topics::is_before);
  co_return change;
}

TopicMembers::TopicMembers(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
TopicMembers::TopicMembers(TopicMembers&&) noexcept = default;
TopicMembers& TopicMembers::operator=(TopicMembers&&) noexcept = default;
TopicMembers::~TopicMembers() = default;

Task<Result<std::vector<TopicMember>, Problem>> TopicMembers::next() { return state_->next(); }
Task<Result<TopicMemberChange, Problem>> TopicMembers::next_change() {
  return state_->next_change();
}

TopicMembers Topics::watch_members(std::string topic) {
  return TopicMembers(std::make_unique<TopicMembers::State>(hub_, std::move(topic)));
}

}  // namespace skua
