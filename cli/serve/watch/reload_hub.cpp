// SPDX-License-Identifier: MIT
// In: changes, from the thread that finds them. Out: an event for each stream, which is woken by a
// post to its loop. A slow client misses nothing: it gets one event for all changes meanwhile.
#include "serve/watch/reload_hub.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "loop/loop.hpp"
#include "skua/events.hpp"
#include "skua/waiter.hpp"

namespace skua::cli {

// The list is used by its loop's thread only.
struct ReloadHub::Listener {
  detail::WaiterList waiters{};
  std::shared_ptr<loop::Mailbox> mailbox{};
  bool is_told = false;  // guarded by the hub's mutex
};

/// A client's place among the listeners, for the lifetime of its stream.
class ReloadHub::Stream {
 public:
  explicit Stream(ReloadHub& hub) : hub_(hub), listener_(std::make_shared<Listener>()) {
    listener_->mailbox = loop::Loop::current().mailbox();
    const std::lock_guard lock(hub_.mutex_);
    is_refused_ = hub_.listeners_.size() >= max_streams;
    if (!is_refused_) hub_.listeners_.push_back(listener_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    const std::lock_guard lock(hub_.mutex_);
    std::erase(hub_.listeners_, listener_);
  }

  [[nodiscard]] bool is_refused() const noexcept { return is_refused_; }

  /// Returns the kind of the changes since a version, which becomes the current one.
  Change take(std::uint64_t& version) {
    const std::lock_guard lock(hub_.mutex_);
    listener_->is_told = false;
    const std::uint64_t known = std::exchange(version, hub_.version_);
    if (known == version) return Change::None;
    const bool is_current_page = known >= hub_.page_version_ && known < version;
    return is_current_page ? Change::Styles : Change::Pages;
  }

  [[nodiscard]] detail::WaiterList::Awaiter wait() noexcept { return listener_->waiters.wait(); }

 private:
  ReloadHub& hub_;
  std::shared_ptr<Listener> listener_;
  bool is_refused_ = false;
};

namespace {

constexpr std::chrono::milliseconds reconnect_after{500};

// Any text that is not a number names no version, so the page is told to reload.
std::uint64_t number_of(std::string_view text) noexcept {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Task<> tell(ReloadHub& hub, std::uint64_t version, EventWriter& out) {
  ReloadHub::Stream stream(hub);
  if (stream.is_refused()) co_return;
  const ServerSentEvent greeting{.event = "ready", .retry = reconnect_after};
  auto greeted = out.send(greeting);
  co_await greeted;
  while (true) {
    const Change change = stream.take(version);
    if (change == Change::None) {
      auto woken = stream.wait();
      co_await woken;
      continue;
    }
    const std::string id = std::to_string(version);
    const ServerSentEvent event{
        .data = id, .event = change == Change::Styles ? "styles" : "reload", .id = id};
    auto sent = out.send(event);
    co_await sent;
  }
}

}  // namespace

ReloadHub::ReloadHub()
    : version_(static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                              std::chrono::system_clock::now().time_since_epoch())
                                              .count())),
      page_version_(version_) {}

ReloadHub::~ReloadHub() = default;

void ReloadHub::publish(Change change) {
  if (change == Change::None) return;
  const std::lock_guard lock(mutex_);
  ++version_;
  if (change == Change::Pages) page_version_ = version_;
  for (const std::shared_ptr<Listener>& listener : listeners_) {
    if (std::exchange(listener->is_told, true)) continue;
    listener->mailbox->post([listener] { listener->waiters.wake_all(); });
  }
}

std::uint64_t ReloadHub::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

Response reload_events(std::shared_ptr<ReloadHub> hub, const Request& request) {
  const auto last = request.header("Last-Event-ID");
  const std::uint64_t known = number_of(last ? *last : request.query("since").value_or(""));
  return server_sent_events(
      [hub = std::move(hub), known](EventWriter& out) { return tell(*hub, known, out); });
}

}  // namespace skua::cli
