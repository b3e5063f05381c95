// SPDX-License-Identifier: MIT
// In: messages from any thread. Out: the same to each subscriber, in order. A message is kept once,
// however many subscribers are behind: a slow one costs no more than the bounds of its topic.
#include "topics/log.hpp"

#include <algorithm>
#include <utility>

namespace skua::topics {
namespace {

// The cost of an entry beside its text.
constexpr std::size_t entry_bytes = 160;

std::size_t size_of(const Entry& entry) noexcept { return entry.message.text.size() + entry_bytes; }

}  // namespace

EntryPtr make_entry(MessageId id, std::optional<MessageId> previous, std::string text) {
  Entry entry{
      .message = {.id = id.to_string(), .text = std::move(text)}, .id = id, .previous = previous};
  return std::make_shared<const Entry>(std::move(entry));
}

EntryPtr make_gap(MessageId at) {
  Entry entry{.message = {.kind = TopicMessage::Kind::Gap, .id = at.to_string()}, .id = at};
  return std::make_shared<const Entry>(std::move(entry));
}

EntryPtr gap_before(const Entry& entry, MessageId position) {
  if (!entry.previous) return nullptr;
  // The first message of all, but the subscriber has seen others: the topic has begun anew.
  const bool is_new_life = *entry.previous == MessageId() && position != MessageId();
  return *entry.previous > position || is_new_life ? make_gap(*entry.previous) : nullptr;
}

Log::Cursor::Cursor(Log& log) : log_(log) {
  const std::shared_ptr<loop::Mailbox>& mailbox = loop::Loop::current().mailbox();
  const std::lock_guard lock(log_.mutex_);
  auto& all = log_.listeners_;
  const auto found = std::ranges::find(all, mailbox, &Listeners::mailbox);
  if (found != all.end()) {
    listeners_ = *found;
  } else {
    listeners_ = std::make_shared<Listeners>();
    listeners_->mailbox = mailbox;
    all.push_back(listeners_);
  }
  ++listeners_->users;
  log_.cursors_.push_back(*this);
}

Log::Cursor::~Cursor() {
  const std::lock_guard lock(log_.mutex_);
  log_.leave(*this);
  unlink();
  if (--listeners_->users == 0) std::erase(log_.listeners_, listeners_);
}

Log::Log(const TopicsOptions& options, MessageId at, std::shared_ptr<LogBudget> budget)
    : options_(options), budget_(std::move(budget)), floor_(at), last_(at) {}

// Publishers --------------------------------------------------------------------------------------

void Log::append(EntryPtr entry) {
  const std::lock_guard lock(mutex_);
  add(std::move(entry));
}

void Log::append(MessageId id, std::string text) {
  const std::lock_guard lock(mutex_);
  add(make_entry(id, last_, std::move(text)));
}

void Log::add(EntryPtr entry) {
  const std::size_t size = size_of(*entry);
  const MessageId id = entry->id;
  entries_.push_back({.entry = std::move(entry), .takers = takers_at_end_});
  takers_at_end_ = 0;
  bytes_ += size;
  budget_->bytes.fetch_add(size, std::memory_order_relaxed);
  last_ = id;
  trim();
  tell();
}

// Drops messages that nobody waits for and that are not kept, and the oldest of too many.
void Log::trim() {
  const auto is_too_much = [this] {
    return entries_.size() > std::max(options_.max_waiting, options_.history) ||
           (entries_.size() > 1 && (bytes_ > options_.topic_bytes || !budget_->has_room()));
  };
  while (is_too_much()) drop_first();
  while (entries_.size() > options_.history && !is_wanted()) drop_first();
}

void Log::drop_first() {
  const Entry& first = *entries_.front().entry;
  const std::size_t size = size_of(first);
  floor_ = first.id;
  bytes_ -= size;
  budget_->bytes.fetch_sub(size, std::memory_order_relaxed);
  late_takers_ += entries_.front().takers;
  entries_.pop_front();
  ++first_;
}

void Log::forget_all() noexcept {
  budget_->bytes.fetch_sub(std::exchange(bytes_, 0), std::memory_order_relaxed);
  entries_.clear();
}

void Log::tell() {
  for (const std::shared_ptr<Listeners>& listeners : listeners_) {
    if (listeners->is_told) continue;
    listeners->mailbox->post([self = shared_from_this(), listeners] {
      {
        const std::lock_guard lock(self->mutex_);
        listeners->is_told = false;
      }
      listeners->waiters.wake_all();
    });
    listeners->is_told = true;
  }
}

void Log::restart(MessageId at) {
  const std::lock_guard lock(mutex_);
  first_ += entries_.size();
  forget_all();
  takers_at_end_ = late_takers_ = 0;
  floor_ = last_ = at;
  cursors_.for_each([](Cursor& cursor) { cursor.is_here_ = false; });
  tell();
}

void Log::end(const Problem& why) {
  const std::lock_guard lock(mutex_);
  if (!end_) end_ = why;
  tell();
}

MessageId Log::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

bool Log::expire(MessageId now) {
  const std::lock_guard lock(mutex_);
  const auto keep = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(options_.keep).count());
  const auto is_old = [&](const Entry& entry) {
    return now.milliseconds > keep && entry.id.milliseconds < now.milliseconds - keep;
  };
  while (!entries_.empty() && !is_wanted() && is_old(*entries_.front().entry)) drop_first();
  return entries_.empty();
}

// Subscribers -------------------------------------------------------------------------------------

Log::Taken Log::take(Cursor& cursor) {
  const std::lock_guard lock(mutex_);
  if (end_) return {State::Ended};
  if (!cursor.is_here_) return {State::Behind};
  if (cursor.next_ < first_) {
    leave(cursor);
    return {State::TooSlow};
  }
  std::uint64_t next = cursor.next_;
  while (next != end_number() && at(next)->id <= cursor.position) ++next;
  move(cursor, next);
  if (next == end_number()) return {State::Waits};
  const EntryPtr& entry = at(next);
  if (EntryPtr gap = gap_before(*entry, cursor.position)) {
    cursor.position = gap->id;
    return {State::Taken, std::move(gap)};
  }
  move(cursor, next + 1);
  cursor.position = entry->id;
  return {State::Taken, entry};
}

bool Log::is_late(const Cursor& cursor) const {
  const std::lock_guard lock(mutex_);
  return cursor.is_here_ && cursor.next_ < first_;
}

Log::State Log::join(Cursor& cursor) {
  const std::lock_guard lock(mutex_);
  if (end_) return State::Ended;
  if (cursor.position < floor_) return State::Behind;
  if (cursor.position > last_) return State::Ahead;
  place(cursor);
  return State::Waits;
}

void Log::wait_for(Cursor& cursor) {
  const std::lock_guard lock(mutex_);
  if (cursor.position >= floor_) place(cursor);
}

EntryPtr Log::rewind(Cursor& cursor) {
  const std::lock_guard lock(mutex_);
  cursor.position = last_;
  place(cursor);
  return make_gap(last_);
}

void Log::place(Cursor& cursor) noexcept {
  const auto next = std::ranges::upper_bound(entries_, cursor.position, {},
                                             [](const Kept& kept) { return kept.entry->id; });
  move(cursor, first_ + static_cast<std::uint64_t>(next - entries_.begin()));
}

void Log::move(Cursor& cursor, std::uint64_t next) noexcept {
  leave(cursor);
  ++takers_of(next);
  cursor.next_ = next;
  cursor.is_here_ = true;
}

void Log::leave(Cursor& cursor) noexcept {
  if (!std::exchange(cursor.is_here_, false)) return;
  --(cursor.next_ < first_ ? late_takers_ : takers_of(cursor.next_));
}

EntryPtr Log::skip(Cursor& cursor) {
  const std::lock_guard lock(mutex_);
  cursor.position = floor_;
  place(cursor);
  return make_gap(floor_);
}

void Log::join_newest(Cursor& cursor, std::size_t count) {
  const std::lock_guard lock(mutex_);
  const std::size_t from = entries_.size() - std::min(count, entries_.size());
  cursor.position = from == 0 ? floor_ : entries_[from - 1].entry->id;
  place(cursor);
}

Problem Log::end_problem() const {
  const std::lock_guard lock(mutex_);
  return end_.value_or(Problem{.error = Errc::Closed});
}

}  // namespace skua::topics
