// SPDX-License-Identifier: MIT
// In: keys and texts from any thread. Out: the same until their time is over, in one map for all,
// which no choice of keys makes slow.
#include "skua/memory_texts.hpp"

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "loop/clock.hpp"

namespace skua {
namespace {

using TextClock = std::chrono::steady_clock;

// The cost of a text beside its bytes and those of its key.
constexpr std::size_t text_bytes = 200;

Problem no_room() {
  return {.error = Error(Errc::Overloaded, "memory texts"),
          .text = "there is no room for the text: MemoryTexts has a limit of bytes"};
}

}  // namespace

struct MemoryTexts::State {
  struct Kept {
    std::string text{};
    std::multimap<TextClock::time_point, const std::string*>::iterator end{};
  };
  using Texts = std::map<std::string, Kept>;

  explicit State(std::size_t max_bytes) noexcept : most(max_bytes) {}

  static std::size_t size_of(const std::string& key, const std::string& text) noexcept {
    return key.size() + text.size() + text_bytes;
  }
  /// Returns the text of a key that is kept, or the end.
  Texts::iterator find(const std::string& key) {
    const TextClock::time_point now = TextClock::now();
    while (!ends.empty() && ends.begin()->first <= now) erase(texts.find(*ends.begin()->second));
    return texts.find(key);
  }
  void erase(Texts::iterator at) noexcept {
    bytes -= size_of(at->first, at->second.text);
    ends.erase(at->second.end);
    texts.erase(at);
  }
  /// Stores a text that is not kept yet. Returns whether there was room.
  bool store(std::string key, std::string text, Duration lifetime) {
    const std::size_t size = size_of(key, text);
    if (size > most - bytes) return false;
    const auto at = texts.try_emplace(std::move(key), Kept{.text = std::move(text)}).first;
    try {
      at->second.end = ends.emplace(later(TextClock::now(), lifetime), &at->first);
    } catch (...) {
      texts.erase(at);
      throw;
    }
    bytes += size;
    return true;
  }

  const std::size_t most;
  std::mutex mutex;
  Texts texts;  // guarded by the mutex, like the next
  std::multimap<TextClock::time_point, const std::string*> ends;  // their keys
  std::size_t bytes = 0;                                          // never more than most
};

MemoryTexts::MemoryTexts(std::size_t max_bytes) : state_(std::make_unique<State>(max_bytes)) {}
MemoryTexts::~MemoryTexts() = default;

Task<MemoryTexts::Found> MemoryTexts::get(std::string key) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->find(key);
  if (found == state_->texts.end()) co_return std::optional<std::string>();
  co_return std::optional<std::string>(found->second.text);
}

Task<MemoryTexts::Found> MemoryTexts::add(std::string key, std::string text, Duration lifetime) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->find(key);
  if (found != state_->texts.end()) co_return std::optional<std::string>(found->second.text);
  if (!state_->store(std::move(key), std::move(text), lifetime)) co_return no_room();
  co_return std::optional<std::string>();
}

Task<Result<void, Problem>> MemoryTexts::replace(std::string key, std::string old, std::string text,
                                                 Duration lifetime) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->find(key);
  if (found == state_->texts.end() || found->second.text != old) co_return Result<void, Problem>();
  if (text.empty()) {
    state_->erase(found);
    co_return Result<void, Problem>();
  }
  const std::size_t others = state_->bytes - State::size_of(key, old);
  if (State::size_of(key, text) > state_->most - others) co_return no_room();
  const auto end = state_->ends.emplace(later(TextClock::now(), lifetime), &found->first);
  state_->ends.erase(std::exchange(found->second.end, end));
  state_->bytes = others + State::size_of(key, text);
  found->second.text = std::move(text);
  co_return Result<void, Problem>();
}

}  // namespace skua
