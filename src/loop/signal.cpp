// SPDX-License-Identifier: MIT
// In: signals, at any moment in any thread. Out: one call per signal on the loop's thread.
// The handler does the one safe thing: it sends the signal's number through a socket that the
// loop reads. It can only access globals, so a table of atomics holds each signal's socket. A
// forked child inherits handler and socket, but not the loop: there, signals do what they did
// before.
#include "loop/signal.hpp"

#include <signal.h>
#if !defined(_WIN32)
#include <unistd.h>
#endif

#include <array>
#include <atomic>
#include <cerrno>
#include <utility>

#include "loop/sockets.hpp"

namespace skua::loop {
namespace {

constexpr int signal_count = 65;  // 1 to 64

// The descriptor for sending a signal, plus one; 0 if the signal is not watched.
std::array<std::atomic<int>, signal_count> write_ends{};
std::array<std::atomic<bool>, signal_count> were_ignored{};  // before they were watched
std::atomic<int> running_handlers{0};
static_assert(std::atomic<int>::is_always_lock_free, "signal handlers must not take locks");

#if defined(_WIN32)
// The C library calls this on a thread of its own for Ctrl-C (SIGINT) and Ctrl-Break (SIGBREAK),
// after it has restored the default disposition.
using Disposition = void (*)(int);
void handle_signal(int signal);

bool install(int signal, Disposition& before) noexcept {
  before = ::signal(signal, handle_signal);
  return before != SIG_ERR;
}
void restore(int signal, const Disposition& before) noexcept { ::signal(signal, before); }
void keep_installed(int signal) noexcept { ::signal(signal, handle_signal); }
bool ignores(const Disposition& before) noexcept { return before == SIG_IGN; }
bool is_child() noexcept { return false; }
void own_table() noexcept {}
#else
using Disposition = struct sigaction;
void handle_signal(int signal);

bool install(int signal, Disposition& before) noexcept {
  struct sigaction action{};
  action.sa_handler = handle_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  return ::sigaction(signal, &action, &before) == 0;
}
void restore(int signal, const Disposition& before) noexcept {
  ::sigaction(signal, &before, nullptr);
}
void keep_installed(int /*signal*/) noexcept {}
bool ignores(const Disposition& before) noexcept { return before.sa_handler == SIG_IGN; }

std::atomic<pid_t> owner{0};  // the process whose loops read the sockets
bool is_child() noexcept { return owner.load() != ::getpid(); }
// A child watches for itself: what its parent watched is of no use to it. One thread clears the
// table; the others wait for that, or what they store would be cleared, too.
void own_table() noexcept {
  const pid_t self = ::getpid();
  const pid_t clearing = -self;
  for (pid_t before = owner.load(); before != self; before = owner.load()) {
    if (before == clearing || !owner.compare_exchange_strong(before, clearing)) continue;
    for (std::atomic<int>& end : write_ends) end.store(0);
    owner.store(self);
  }
}
#endif

// Another handler of the program's cannot be called from here: it may need what only it knows.
void act_as_before(int signal) noexcept {
  ::signal(signal, were_ignored[static_cast<std::size_t>(signal)].load() ? SIG_IGN : SIG_DFL);
  ::raise(signal);  // once this handler has returned
}

void handle_signal(int signal) {
  const int saved_errno = errno;
  running_handlers.fetch_add(1);
  const int descriptor = write_ends[static_cast<std::size_t>(signal)].load() - 1;
  if (descriptor >= 0 && is_child()) {
    act_as_before(signal);
  } else if (descriptor >= 0) {
    keep_installed(signal);
    const char byte = static_cast<char>(signal);
    // Fails only if the socket is full of unread signals.
    [[maybe_unused]] const ssize_t ignored = bsd::send(descriptor, &byte, 1, bsd::no_signal);
  }
  running_handlers.fetch_sub(1);
  errno = saved_errno;
}

}  // namespace

struct SignalWatcher::Saved {
  int signal;
  Disposition before;
};

/// The loop's end of the socket. It outlives the watcher, as a closing handle must.
class SignalWatcher::Receiver final : public Handle {
 public:
  static Receiver& create(Loop& loop, int descriptor, std::function<void(int)> callback) {
    auto made = std::make_unique<Receiver>(loop, std::move(callback));
    Receiver& receiver = *made;
    receiver.self_ = std::move(made);
    loop.backend().open(receiver, descriptor);
    loop.backend().start_receive(receiver);
    return receiver;
  }
  Receiver(Loop& loop, std::function<void(int)> callback)
      : loop_(loop), callback_(std::move(callback)) {}

  void close() {
    callback_ = nullptr;
    loop_.backend().close(*this);
  }

 private:
  void on_receive(std::span<char> bytes) override {
    for (const char byte : bytes) {
      const auto callback = callback_;  // it may destroy the watcher, and with it the original
      if (callback) callback(byte);
    }
  }
  void on_closed() override { const auto last = std::move(self_); }

  Loop& loop_;
  std::function<void(int)> callback_;
  std::unique_ptr<Receiver> self_;
};

SignalWatcher::SignalWatcher() = default;

Result<std::unique_ptr<SignalWatcher>> SignalWatcher::create(
    Loop& loop, std::initializer_list<int> signals, std::function<void(int signal)> callback) {
  std::array<int, 2> ends{};
  if (bsd::pair(ends) != 0) return Error::from_system(errno, "socketpair");
  std::unique_ptr<SignalWatcher> watcher(new SignalWatcher);
  watcher->write_end_ = ends[1];
  watcher->receiver_ = &Receiver::create(loop, ends[0], std::move(callback));
  for (const int signal : signals) {
    const Result<void> watched = watcher->watch(signal, ends[1]);
    if (!watched) return watched.error();
  }
  return watcher;
}

Result<void> SignalWatcher::watch(int signal, int descriptor) {
  if (signal <= 0 || signal >= signal_count) return Error(Errc::Unsupported, "signal");
  own_table();
  int nobody = 0;
  auto& write_end = write_ends[static_cast<std::size_t>(signal)];
  if (!write_end.compare_exchange_strong(nobody, descriptor + 1)) {
    return Error(Errc::Unsupported, "the signal already has a watcher");
  }
  Saved saved{signal, {}};
  if (!install(signal, saved.before)) {
    write_end.store(0);
    return Error(Errc::Unsupported, "sigaction", errno);
  }
  were_ignored[static_cast<std::size_t>(signal)].store(ignores(saved.before));
  saved_.push_back(saved);
  return {};
}

SignalWatcher::~SignalWatcher() {
  for (const Saved& saved : saved_) {
    restore(saved.signal, saved.before);
    write_ends[static_cast<std::size_t>(saved.signal)].store(0);
  }
  while (running_handlers.load() != 0) {  // another thread's handler may be using the socket
  }
  bsd::close(write_end_);
  receiver_->close();
}

}  // namespace skua::loop
