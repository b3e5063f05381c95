// SPDX-License-Identifier: MIT
// The signal is blocked in every thread, and one takes it: nothing runs in a signal handler. The
// system delivers it once to a process, so that all objects share a watcher.
#include "operations/rotation_signal.hpp"

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace skua::operations {
namespace {

/// An object that wants to hear of the signal.
struct SignalListener {
  std::function<void()> on_signal{};  // empty before start()
  bool is_due = false;                // a signal came before that
};

/// Takes the signal for all listeners, while there are any.
class SignalWatcher final {
 public:
  SignalWatcher() noexcept {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGUSR1);
    sigset_t before{};
    pthread_sigmask(SIG_BLOCK, &signals_, &before);
    was_blocked_ = sigismember(&before, SIGUSR1) == 1;
  }
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;
  ~SignalWatcher();

  /// Adds a listener, and blocks the signal in its thread.
  void add(SignalListener& listener);
  /// Removes a listener, which is not called from here on.
  void remove(SignalListener& listener) noexcept;
  /// Begins to call a listener.
  void start(SignalListener& listener, std::function<void()> on_signal);

 private:
  void run();
  void tell_all();

  sigset_t signals_{};
  bool was_blocked_ = false;
  std::mutex mutex_;
  std::vector<SignalListener*> listeners_;  // guarded by mutex_, like what they hold
  std::atomic<bool> has_ended_ = false;
  std::thread thread_;
};

// One that is still pending from outside would end the process.
SignalWatcher::~SignalWatcher() {
  if (thread_.joinable()) {
    has_ended_ = true;
    pthread_kill(thread_.native_handle(), SIGUSR1);
    thread_.join();
  }
  sigset_t pending{};
  for (int signal = 0; sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == 1;) {
    sigwait(&signals_, &signal);
  }
  if (!was_blocked_) pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
}

void SignalWatcher::add(SignalListener& listener) {
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  const std::lock_guard lock(mutex_);
  listeners_.push_back(&listener);
}

void SignalWatcher::remove(SignalListener& listener) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(listeners_, &listener);
}

void SignalWatcher::start(SignalListener& listener, std::function<void()> on_signal) {
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  const std::lock_guard lock(mutex_);
  listener.on_signal = std::move(on_signal);
  if (std::exchange(listener.is_due, false)) listener.on_signal();
}

void SignalWatcher::run() {
  for (int signal = 0; sigwait(&signals_, &signal) == 0 && !has_ended_;) tell_all();
}

void SignalWatcher::tell_all() {
  const std::lock_guard lock(mutex_);
  for (SignalListener* const listener : listeners_) {
    if (listener->on_signal) {
      listener->on_signal();
    } else {
      listener->is_due = true;
    }
  }
}

/// The watcher of the process, if it has one.
struct SharedWatcher {
  std::mutex mutex;  // held while a watcher begins, changes or ends
  std::weak_ptr<SignalWatcher> current;
};

// Objects that are destroyed after the statics of this file share it, too.
std::shared_ptr<SharedWatcher> shared_watcher() {
  static const auto one = std::make_shared<SharedWatcher>();  // the signal is the process's, too
  return one;
}

}  // namespace

struct RotationSignal::Impl {
  const std::shared_ptr<SharedWatcher> shared = shared_watcher();
  SignalListener listener{};
  std::shared_ptr<SignalWatcher> watcher{};  // shared by all objects: the last one ends it
};

RotationSignal::RotationSignal() : impl_(std::make_unique<Impl>()) {
  const std::lock_guard lock(impl_->shared->mutex);
  impl_->watcher = impl_->shared->current.lock();
  if (impl_->watcher == nullptr) {
    impl_->watcher = std::make_shared<SignalWatcher>();
    impl_->shared->current = impl_->watcher;
  }
  impl_->watcher->add(impl_->listener);
}

void RotationSignal::start(std::function<void()> on_signal) {
  const std::lock_guard lock(impl_->shared->mutex);
  impl_->watcher->start(impl_->listener, std::move(on_signal));
}

RotationSignal::~RotationSignal() {
  const std::lock_guard lock(impl_->shared->mutex);
  impl_->watcher->remove(impl_->listener);
  impl_->watcher.reset();
}

}  // namespace skua::operations
