// SPDX-License-Identifier: MIT
// In: a place in a topic. Out: the messages after it: first those that only the bus still has, then
// those in the log, as they come.
#include "topics/reading.hpp"

#include <atomic>
#include <optional>
#include <utility>

namespace skua::topics {

Reading::Reading(std::unique_ptr<Hub::Use> log)
    : log_(std::move(log)),
      cursor_(**log_),
      tally_(is_for_messages(log_->name()) ? &log_->hub().tally() : nullptr) {
  if (tally_ != nullptr) tally_->subscriptions.fetch_add(1, std::memory_order_relaxed);
}

Reading::~Reading() {
  if (tally_ != nullptr) tally_->subscriptions.fetch_sub(1, std::memory_order_relaxed);
}

EntryPtr Reading::counted(EntryPtr entry) const noexcept {
  if (tally_ == nullptr || entry == nullptr) return entry;
  const bool is_gap = entry->message.kind == TopicMessage::Kind::Gap;
  (is_gap ? tally_->gaps : tally_->delivered).fetch_add(1, std::memory_order_relaxed);
  return entry;
}

Task<Reading::Opened> Reading::open(std::shared_ptr<Hub> hub, std::string name, Start start) {
  std::unique_ptr<Reading> reading(new Reading(hub->open(std::move(name))));
  const Result<void, Problem> begun = co_await reading->begin(std::move(start));
  if (!begun) co_return begun.error();
  co_return reading;
}

Task<Result<void, Problem>> Reading::begin(Start start) {
  TopicBus* const bus = log_->hub().bus();
  if (bus != nullptr) {
    Result<std::unique_ptr<Lease>, Problem> lease = co_await bus->watch(log_->name());
    if (!lease) co_return std::move(lease).error();
    lease_ = *std::move(lease);
  }
  if (!start.after.empty()) {
    const std::optional<MessageId> after = parse_message_id(start.after);
    if (after) {
      cursor_.position = *after;
      // If what comes next is not here, next() looks for it.
      const Log::State joined = (*log_)->join(cursor_);
      if (joined == Log::State::Ahead && bus == nullptr) pages_.push_back((*log_)->rewind(cursor_));
    } else {
      (*log_)->join_newest(cursor_, 0);
      pages_.push_back(make_gap(cursor_.position));
    }
  } else if (start.history != 0 && bus != nullptr) {
    Result<Page, Problem> page = co_await bus->newest(log_->name(), start.history);
    if (!page) co_return std::move(page).error();
    if (page->entries.empty()) {
      (*log_)->join_newest(cursor_, 0);
    } else {
      cursor_.position = page->entries.front()->previous.value_or(MessageId());
      keep(*std::move(page));
    }
  } else {
    (*log_)->join_newest(cursor_, start.history);
  }
  co_return Result<void, Problem>();
}

Task<Result<EntryPtr, Problem>> Reading::next() {
  while (true) {
    if (EntryPtr entry = take_page()) co_return counted(std::move(entry));
    Log::Taken taken = (*log_)->take(cursor_);
    switch (taken.state) {
      case Log::State::Taken: co_return counted(std::move(taken.entry));
      case Log::State::Waits: co_await cursor_.waiters().wait(); break;
      case Log::State::Ended: co_return (*log_)->end_problem();
      case Log::State::TooSlow:
        if (may_be_late()) {
          co_return Problem{.error = Error(Errc::Overloaded, "topics"),
                            .text = "messages were taken too slowly"};
        }
        [[fallthrough]];
      case Log::State::Behind:
      case Log::State::Ahead: {
        Result<EntryPtr, Problem> entry = co_await catch_up();
        if (!entry) co_return entry;
        if (*entry != nullptr) co_return counted(*std::move(entry));
      }
    }
  }
}

/// Goes on with the log if the next message is there, else with what the bus keeps. Returns a gap
/// if that is not all; else null. The log may be behind the bus, which other processes read sooner.
Task<Result<EntryPtr, Problem>> Reading::catch_up() {
  const Log::State joined = (*log_)->join(cursor_);
  TopicBus* const bus = log_->hub().bus();
  if (joined == Log::State::Ahead) {
    if (bus == nullptr) co_return (*log_)->rewind(cursor_);
    const Result<Page, Problem> page = co_await bus->newest(log_->name(), 1);
    if (!page) co_return page.error();
    const bool is_late = !page->entries.empty() && page->entries.back()->id >= cursor_.position;
    if (!is_late) co_return (*log_)->rewind(cursor_);
    (*log_)->wait_for(cursor_);
    co_return EntryPtr();
  }
  if (joined != Log::State::Behind) co_return EntryPtr();
  if (bus == nullptr) co_return (*log_)->skip(cursor_);
  Result<Page, Problem> page = co_await bus->read(log_->name(), cursor_.position);
  if (!page) co_return std::move(page).error();
  keep(*std::move(page));
  if (pages_.empty()) co_return (*log_)->skip(cursor_);
  co_return EntryPtr();
}

// Messages that were delivered already are dropped.
void Reading::keep(Page page) {
  for (EntryPtr& entry : page.entries) {
    if (entry->id > cursor_.position) pages_.push_back(std::move(entry));
  }
}

EntryPtr Reading::take_page() {
  if (pages_.empty()) return nullptr;
  EntryPtr entry = pages_.front();
  if (entry->message.kind == TopicMessage::Kind::Message) {
    if (EntryPtr gap = gap_before(*entry, cursor_.position)) {
      cursor_.position = gap->id;
      return gap;
    }
  }
  pages_.pop_front();
  cursor_.position = entry->id;
  return entry;
}

bool Reading::may_be_late() const noexcept {
  return log_->hub().options().slow_subscriber == SlowSubscriber::Close;
}

bool Reading::is_late() const {
  return may_be_late() && pages_.empty() && (*log_)->is_late(cursor_);
}

EntryPtr Reading::take_ready() {
  EntryPtr entry = take_page();
  return counted(entry != nullptr ? std::move(entry) : (*log_)->take(cursor_).entry);
}

}  // namespace skua::topics
