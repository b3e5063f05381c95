// SPDX-License-Identifier: MIT
// In: messages of this process, or those that a bus brings. Out: the same in the logs of topics.
#include "topics/hub.hpp"

#include "async/guarded.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <tuple>

namespace skua::topics {
namespace {

// How long a publication is remembered that may be repeated.
constexpr std::uint64_t remembered_milliseconds = 120'000;
// Topics that are looked at for old messages: with each publication, and with each look at them.
constexpr std::size_t expired_with_a_message = 4;
constexpr std::size_t expired_at_once = 20'000;

std::chrono::milliseconds wall_clock() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
}

Problem closed() { return Problem::from(Error(Errc::Closed, "the topics")); }

}  // namespace

bool is_before(const TopicMember& a, const TopicMember& b) noexcept {
  return std::tie(a.name, a.data) < std::tie(b.name, b.data);
}

void sort_members(std::vector<TopicMember>& members) { std::ranges::sort(members, is_before); }

Hub::Hub(TopicsOptions options, std::shared_ptr<TopicBus> bus, WallClock clock,
         std::size_t remembered_count)
    : options_(std::move(options)),
      on_failure_([this](const Problem& why) { failed(why); }),
      bus_(std::move(bus)),
      clock_(clock ? std::move(clock) : WallClock(wall_clock)),
      remembered_count_(remembered_count),
      budget_(std::make_shared<LogBudget>(options_.total_bytes)),
      last_{static_cast<std::uint64_t>(clock_().count()), 0} {}

void Hub::start() {
  if (bus_ != nullptr) bus_->start(*this, on_failure_);
}

void Hub::failed(const Problem& why) {
  tally_.unpublished.fetch_add(1, std::memory_order_relaxed);
  if (!options_.on_problem) return;
  async::guarded([&] { options_.on_problem(why); });
}

void Hub::close() noexcept {
  if (bus_ != nullptr) bus_->stop();
  const std::lock_guard lock(mutex_);
  if (std::exchange(is_closed_, true)) return;
  for (auto& [name, slot] : slots_) slot.log->end(closed());
}

// Logs --------------------------------------------------------------------------------------------

std::unique_ptr<Hub::Use> Hub::open(std::string name) {
  const std::lock_guard lock(mutex_);
  Slot& slot = slot_of(name);
  if (bus_ == nullptr) slot.log->expire({static_cast<std::uint64_t>(clock_().count()), 0});
  auto use = std::make_unique<Use>(shared_from_this(), std::move(name), slot.log);
  ++slot.users;
  set_busy(slot);
  return use;
}

Hub::Slot& Hub::slot_of(const std::string& name) {
  const auto found = slots_.find(name);
  if (found != slots_.end()) return found->second;
  auto log = std::make_shared<Log>(options_, last_, budget_);
  if (is_closed_) log->end(closed());
  const auto made = slots_.try_emplace(name).first;
  Slot& slot = made->second;
  slot.log = std::move(log);
  slot.name = &made->first;
  if (bus_ == nullptr) set_idle(slot);
  return slot;
}

void Hub::give_back(const std::string& name) noexcept {
  const std::lock_guard lock(mutex_);
  Slot& slot = slots_.find(name)->second;
  if (--slot.users != 0) return;
  if (!is_needed(slot)) {
    forget(slot);
  } else if (bus_ == nullptr) {
    set_idle(slot);
  }
}

bool Hub::is_needed(const Slot& slot) {
  if (slot.users != 0 || slot.is_fed) return true;
  if (bus_ != nullptr) return false;
  return !slot.log->expire({static_cast<std::uint64_t>(clock_().count()), 0});
}

// Idle topics -------------------------------------------------------------------------------------

void Hub::set_idle(Slot& slot) noexcept {
  set_busy(slot);
  idle_.push_back(slot);
  ++idle_count_;
}

void Hub::set_busy(Slot& slot) noexcept {
  if (!slot.is_linked()) return;
  slot.unlink();
  --idle_count_;
}

void Hub::forget(Slot& slot) noexcept {
  set_busy(slot);
  slots_.erase(slots_.find(*slot.name));
}

/// Forgets topics whose messages are too old.
void Hub::expire(std::size_t most) {
  for (std::size_t i = 0; i < most && !idle_.empty() && !is_needed(idle_.front()); ++i) {
    forget(idle_.front());
  }
}

/// Forgets idle topics, the longest without a message first, so that a message fits.
void Hub::make_room(const Slot& slot, std::size_t bytes) {
  while (!idle_.empty() && &idle_.front() != &slot &&
         (idle_count_ > options_.kept_topics || !budget_->has_room(bytes))) {
    forget(idle_.front());
    ++forgotten_;
  }
}

TopicCounters Hub::counters() {
  TopicCounters counters;
  counters.published = tally_.published.load(std::memory_order_relaxed);
  counters.unpublished = tally_.unpublished.load(std::memory_order_relaxed);
  counters.delivered = tally_.delivered.load(std::memory_order_relaxed);
  counters.gaps = tally_.gaps.load(std::memory_order_relaxed);
  counters.subscriptions = tally_.subscriptions.load(std::memory_order_relaxed);
  if (bus_ != nullptr) counters.bus_losses = bus_->losses();
  const std::lock_guard lock(mutex_);
  expire(expired_at_once);
  counters.topics = slots_.size();
  counters.bytes = budget_->bytes.load(std::memory_order_relaxed);
  counters.forgotten = forgotten_;
  return counters;
}

MessageId Hub::next_id() {
  const MessageId now{static_cast<std::uint64_t>(clock_().count()), 0};
  last_ = std::max(now, last_.next());
  return last_;
}

std::string Hub::publish_here(const std::string& name, std::string text, const std::string& once) {
  const PublishedKey key = once.empty() ? PublishedKey() : key_of(name, once);
  const std::lock_guard lock(mutex_);
  forget_published();
  expire(expired_with_a_message);
  if (!once.empty()) {
    const auto found = published_.find(key);
    if (found != published_.end()) return found->second.to_string();
  }
  const bool is_kept = options_.history != 0 && is_for_messages(name);
  const bool is_known = is_kept || slots_.contains(name);
  // Before the id is made: a new log does not have the messages up to the last id.
  Slot* const slot = is_known ? &slot_of(name) : nullptr;
  if (slot != nullptr) {
    if (slot->users == 0) set_idle(*slot);
    make_room(*slot, text.size());
  }
  const MessageId id = next_id();
  if (!once.empty()) remember(key, id);
  if (slot != nullptr) slot->log->append(id, std::move(text));
  return id.to_string();
}

// Any text is a name, so that its length says where it ends.
Hub::PublishedKey Hub::key_of(const std::string& name, const std::string& once) const {
  const std::string text = std::to_string(std::uint64_t{name.size()}) + ':' + name + once;
  return {hashes_[0](text), hashes_[1](text)};
}

void Hub::remember(const PublishedKey& key, MessageId id) {
  if (published_at_.size() >= remembered_count_) forget_oldest();
  published_at_.push_back({key, id.milliseconds});
  published_.emplace(key, id);
}

void Hub::forget_published() {
  const auto now = static_cast<std::uint64_t>(clock_().count());
  while (!published_at_.empty() &&
         published_at_.front().milliseconds + remembered_milliseconds < now) {
    forget_oldest();
  }
}

void Hub::forget_oldest() {
  published_.erase(published_at_.front().key);
  published_at_.pop_front();
}

// Members -----------------------------------------------------------------------------------------

std::unique_ptr<Lease> Hub::enter_here(const std::string& topic, TopicMember member) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = ++last_member_;
    Present& present = members_[topic];
    present.all.emplace(number, std::move(member));
    present.sorted.reset();
  }
  auto lease = std::make_unique<Lease>(
      [self = shared_from_this(), topic, number] { self->leave_here(topic, number); });
  publish_here(member_changes_of(topic), {}, {});
  return lease;
}

void Hub::leave_here(const std::string& topic, std::uint64_t number) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = members_.find(topic);
    found->second.all.erase(number);
    found->second.sorted.reset();
    if (found->second.all.empty()) members_.erase(found);
  }
  publish_here(member_changes_of(topic), {}, {});
}

MembersPtr Hub::members_here(const std::string& topic) {
  const std::lock_guard lock(mutex_);
  const auto found = members_.find(topic);
  if (found == members_.end()) return std::make_shared<const std::vector<TopicMember>>();
  Present& present = found->second;
  if (present.sorted == nullptr) {
    std::vector<TopicMember> members;
    members.reserve(present.all.size());
    for (const auto& [number, member] : present.all) members.push_back(member);
    sort_members(members);
    present.sorted = std::make_shared<const std::vector<TopicMember>>(std::move(members));
  }
  return present.sorted;
}

// Feed --------------------------------------------------------------------------------------------

void Hub::begin(const std::string& name, MessageId at) {
  const std::lock_guard lock(mutex_);
  Slot& slot = slot_of(name);
  slot.is_fed = true;
  slot.log->restart(at);
}

void Hub::append(const std::string& name, EntryPtr entry) {
  const std::lock_guard lock(mutex_);
  const auto found = slots_.find(name);
  if (found != slots_.end()) found->second.log->append(std::move(entry));
}

void Hub::restart(const std::string& name, MessageId at) {
  const std::lock_guard lock(mutex_);
  const auto found = slots_.find(name);
  if (found != slots_.end()) found->second.log->restart(at);
}

void Hub::end(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = slots_.find(name);
  if (found == slots_.end()) return;
  found->second.is_fed = false;
  if (found->second.users == 0) forget(found->second);
}

}  // namespace skua::topics
