// SPDX-License-Identifier: MIT
// In: names. Out: answers, on detached threads. A thread starts with one lookup, continues with
// queued ones and ends when the queue is empty, so no thread is ever told to stop. Abandoning a
// lookup frees its place for another; the thread notices when the lookup returns.
#include "sockets/lookup_threads.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace skua::sockets {

struct LookupThreads::Lookup {
  enum class State : std::uint8_t { Queued, Running, Abandoned, Over };

  Lookup(std::string its_name, std::function<void(Answer)> its_done)
      : name(std::move(its_name)), done(std::move(its_done)) {}

  const std::string name;
  const std::function<void(Answer)> done;
  // Guarded by Shared::mutex.
  State state = State::Queued;
  bool is_looked_at = false;  // by the thread for local names
  bool is_local = false;      // runs on that thread
};

namespace {

using LookupPointer = std::shared_ptr<LookupThreads::Lookup>;
using LookupState = LookupThreads::Lookup::State;

// Threads with abandoned lookups no longer belong to a client, so they are counted per process: a
// program that creates a client for each request leaves at most this many behind.
constexpr std::size_t max_threads = 64;
constinit std::atomic<std::size_t> thread_count{0};

LookupThreads::Answer answer_of(const LookupOptions& options, const std::string& name) {
  try {
    return options.look_up(name);
  } catch (...) {
    return Error(Errc::NameNotResolved, "the lookup failed");
  }
}

void run_lookup(const LookupOptions& options, const LookupThreads::Lookup& lookup) noexcept {
  try {
    lookup.done(answer_of(options, lookup.name));
  } catch (...) {  // no memory for the answer: its waiters time out
    return;
  }
}

/// Returns false if no thread is available.
template <class F>
bool start_thread(F&& work) {
  if (thread_count.fetch_add(1) < max_threads) {
    try {
      std::thread([work = std::forward<F>(work)]() mutable {
        work();
        thread_count.fetch_sub(1);
      }).detach();
      return true;
    } catch (...) {
      thread_count.fetch_sub(1);  // no thread, or no memory for one
      return false;
    }
  }
  thread_count.fetch_sub(1);
  return false;
}

}  // namespace

struct LookupThreads::Shared : std::enable_shared_from_this<LookupThreads::Shared> {
  explicit Shared(LookupOptions its_options) : options(std::move(its_options)) {}

  [[nodiscard]] std::size_t places() const noexcept {
    return std::max<std::size_t>(options.threads, 1);
  }
  /// With the lock: starts a lookup. Returns false if no thread could be started for it.
  bool run(const LookupPointer& lookup) {
    if (!start_thread([self = shared_from_this(), lookup] { self->work(lookup); })) return false;
    lookup->state = LookupState::Running;
    ++running;
    return true;
  }
  /// With the lock: starts queued lookups in the free places.
  void serve() {
    while (running < places() && !queue.empty() && run(queue.front())) queue.pop_front();
    serve_local();
  }
  /// With the lock: starts a separate thread for the names that need no network.
  void serve_local() {
    const auto is_new = [](const LookupPointer& one) { return !one->is_looked_at; };
    if (has_local_thread || !std::ranges::any_of(queue, is_new)) return;
    has_local_thread = start_thread([self = shared_from_this()] { self->work_locally(); });
  }

  void work(LookupPointer lookup) {
    while (lookup != nullptr) {
      run_lookup(options, *lookup);
      lookup = next(lookup);
    }
  }
  /// Returns the next lookup for the thread that finished this one; null ends the thread.
  LookupPointer next(const LookupPointer& finished) {
    const std::lock_guard lock(mutex);
    if (std::exchange(finished->state, LookupState::Over) != LookupState::Abandoned) --running;
    if (queue.empty() || running >= places()) return nullptr;
    ++running;
    LookupPointer first = std::move(queue.front());
    queue.pop_front();
    first->state = LookupState::Running;
    return first;
  }

  void work_locally() {
    while (const LookupPointer candidate = next_unseen()) {
      if (!is_local(candidate->name) || !claim(candidate)) continue;
      run_lookup(options, *candidate);
      const std::lock_guard lock(mutex);
      // If it was abandoned, another thread may have taken this one's place.
      if (std::exchange(candidate->state, LookupState::Over) == LookupState::Abandoned) return;
    }
  }
  LookupPointer next_unseen() {
    const std::lock_guard lock(mutex);
    for (const LookupPointer& one : queue) {
      if (!std::exchange(one->is_looked_at, true)) return one;
    }
    has_local_thread = false;
    return nullptr;
  }
  /// Removes a lookup from the queue. Returns false if it is no longer there.
  bool claim(const LookupPointer& lookup) {
    const std::lock_guard lock(mutex);
    if (std::erase(queue, lookup) == 0) return false;
    lookup->state = LookupState::Running;
    lookup->is_local = true;
    return true;
  }
  [[nodiscard]] bool is_local(const std::string& name) const noexcept {
    try {
      return options.is_local(name);
    } catch (...) {
      return false;
    }
  }

  const LookupOptions options;
  std::mutex mutex;
  std::deque<LookupPointer> queue;  // guarded by mutex, like all that follows
  std::size_t running = 0;          // lookups on ordinary threads, except abandoned ones
  bool has_local_thread = false;    // its lookup, if any, has not been abandoned
};

LookupThreads::LookupThreads(LookupOptions options)
    : shared_(std::make_shared<Shared>(std::move(options))) {}

LookupThreads::~LookupThreads() {
  while (true) {            // another queue would need memory
    LookupPointer dropped;  // destroyed after unlocking: captures may own anything
    const std::lock_guard lock(shared_->mutex);
    if (shared_->queue.empty()) return;
    dropped = std::move(shared_->queue.front());
    shared_->queue.pop_front();
  }
}

std::shared_ptr<LookupThreads::Lookup> LookupThreads::start(std::string name,
                                                            std::function<void(Answer)> done) {
  auto lookup = std::make_shared<Lookup>(std::move(name), std::move(done));
  const std::lock_guard lock(shared_->mutex);
  if (shared_->running < shared_->places() && shared_->run(lookup)) return lookup;
  if (shared_->running == 0 || shared_->queue.size() >= shared_->options.queued) return nullptr;
  shared_->queue.push_back(lookup);
  shared_->serve_local();
  return lookup;
}

bool LookupThreads::abandon(Lookup& lookup) {
  LookupPointer dropped;  // destroyed after unlocking
  const std::lock_guard lock(shared_->mutex);
  if (lookup.state == LookupState::Queued) {
    const auto is_it = [&](const LookupPointer& one) { return one.get() == &lookup; };
    const auto found = std::ranges::find_if(shared_->queue, is_it);
    dropped = std::move(*found);
    shared_->queue.erase(found);
    return true;
  }
  if (lookup.state != LookupState::Running) return false;
  lookup.state = LookupState::Abandoned;
  if (lookup.is_local) {
    shared_->has_local_thread = false;
  } else {
    --shared_->running;
  }
  shared_->serve();
  return false;
}

}  // namespace skua::sockets
