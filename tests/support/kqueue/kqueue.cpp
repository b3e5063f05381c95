// SPDX-License-Identifier: MIT
// kqueue(2) for tests on Linux. In: changes, descriptors. Out: events, as the manual pages of
// FreeBSD and macOS describe them, for sockets and EVFILT_USER.
// A queue is an eventfd, so closing it leaves nothing open; a table of the process has the rest.
// A wait polls the eventfd, which another thread's changes make readable, and every descriptor.
// Level-triggered events need no more. EV_CLEAR does, so only EVFILT_USER has it.
// Memory comes from malloc: a kernel's is not counted, nor made to fail, by tests that replace
// operator new.
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/event.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace skua::testing {
namespace {

using Event = struct kevent;
using Clock = std::chrono::steady_clock;

template <class T>
struct Malloc {
  using value_type = T;
  Malloc() = default;
  template <class Other>
  explicit Malloc(const Malloc<Other>& /*other*/) noexcept {}
  T* allocate(std::size_t count) {
    void* const block = std::malloc(count * sizeof(T));
    if (block == nullptr) throw std::bad_alloc();
    return static_cast<T*>(block);
  }
  void deallocate(T* block, std::size_t /*count*/) noexcept { std::free(block); }
  friend bool operator==(const Malloc&, const Malloc&) noexcept { return true; }
};
template <class T>
using Vector = std::vector<T, Malloc<T>>;

/// The file behind a descriptor; differs after the number was closed and used again.
struct File {
  dev_t device = 0;
  ino_t number = 0;
  friend bool operator==(const File&, const File&) = default;
};

// Not fstat: ThreadSanitizer takes that for a use of the descriptor, which races with the thread
// that closes it. A kernel looks at the files that it watches without racing with anybody.
std::optional<File> file_of(int descriptor) noexcept {
  struct stat state{};
  if (::fstatat(descriptor, "", &state, AT_EMPTY_PATH) != 0) return std::nullopt;
  return File{state.st_dev, state.st_ino};
}

/// An ident and a filter that are watched.
struct Knote {
  Event event;  // as it was added, without its actions
  File file{};
  bool is_enabled = true;
  bool is_triggered = false;  // EVFILT_USER
  bool is_over = false;       // EV_ONESHOT, and it was reported

  [[nodiscard]] int descriptor() const noexcept { return static_cast<int>(event.ident); }
  [[nodiscard]] bool watches_file() const noexcept { return event.filter != EVFILT_USER; }
  [[nodiscard]] short wanted() const noexcept {
    return event.filter == EVFILT_WRITE ? short{POLLOUT} : short{POLLIN | POLLRDHUP};
  }
};

// A constant converts to any C library's type of requests.
template <int request>
int ask(int descriptor) noexcept {
  int answer = 0;
  return ::ioctl(descriptor, request, &answer) == 0 ? answer : 0;
}

int option(int descriptor, int name) noexcept {
  int value = 0;
  socklen_t size_bytes = sizeof value;
  return ::getsockopt(descriptor, SOL_SOCKET, name, &value, &size_bytes) == 0 ? value : 0;
}

// The number of connections that wait to be accepted; Linux does not tell that of Unix sockets.
std::int64_t backlog_of(int listener) noexcept {
  tcp_info info{};
  socklen_t size_bytes = sizeof info;
  if (::getsockopt(listener, IPPROTO_TCP, TCP_INFO, &info, &size_bytes) != 0) return 1;
  return info.tcpi_unacked;
}

// Linux tells the error of a socket only by taking it away from the calls that ought to report it.
constexpr std::uint32_t some_error = ECONNRESET;

/// Returns the event of a knote for whose descriptor poll(2) returned `ready`; nullopt if it has
/// none.
std::optional<Event> event_of(const Knote& knote, short ready) noexcept {
  if (knote.event.filter == EVFILT_USER) {
    return knote.is_triggered ? std::optional(knote.event) : std::nullopt;
  }
  const int descriptor = knote.descriptor();
  Event event = knote.event;
  event.fflags = (ready & POLLERR) != 0 ? some_error : 0;
  if (event.filter == EVFILT_WRITE) {
    if ((ready & (POLLOUT | POLLERR | POLLHUP)) == 0) return std::nullopt;
    if ((ready & (POLLERR | POLLHUP)) != 0) event.flags |= EV_EOF;
    event.data = std::max(0, option(descriptor, SO_SNDBUF) - ask<SIOCOUTQ>(descriptor));
    return event;
  }
  if ((ready & (POLLIN | POLLRDHUP | POLLERR | POLLHUP)) == 0) return std::nullopt;
  if (option(descriptor, SO_ACCEPTCONN) != 0) {
    event.data = backlog_of(descriptor);
    return event;
  }
  if ((ready & (POLLRDHUP | POLLERR | POLLHUP)) != 0) event.flags |= EV_EOF;
  event.data = ask<SIOCINQ>(descriptor);
  return event;
}

class Queue {
 public:
  explicit Queue(int signal) noexcept : signal_(signal) {}

  /// Returns 0 or an errno.
  int change(const Event& change) noexcept;
  /// Returns how many events there are, or -1 and sets errno.
  int wait(Event* events, int room, const timespec* timeout) noexcept;

 private:
  using Place = Vector<Knote>::iterator;

  Place find(const Event& event) noexcept;
  int add(const Event& change, Place& knote) noexcept;
  bool list_entries();
  int collect(Event* events, int room) noexcept;

  const int signal_;  // the eventfd
  std::mutex mutex_;
  Vector<Knote> knotes_;
  std::uint64_t change_count_ = 0;
  std::size_t first_ = 0;   // the knote to look at first, so that each has its turn
  Vector<pollfd> entries_;  // of the thread that waits: the signal, then one for each knote
};

// Closing a descriptor removes what watches it.
bool is_stale(const Knote& knote) noexcept {
  return knote.watches_file() && file_of(knote.descriptor()) != knote.file;
}

Queue::Place Queue::find(const Event& event) noexcept {
  const auto found = std::ranges::find_if(knotes_, [&](const Knote& knote) {
    return knote.event.ident == event.ident && knote.event.filter == event.filter;
  });
  if (found == knotes_.end() || !is_stale(*found)) return found;
  knotes_.erase(found);
  return knotes_.end();
}

int Queue::add(const Event& change, Place& knote) noexcept try {
  constexpr int kept_flags = EV_ONESHOT | EV_CLEAR | EV_DISPATCH;
  Knote added{.event = change};
  added.event.flags &= kept_flags;
  added.event.fflags = 0;
  if (added.watches_file()) {
    if ((change.flags & EV_CLEAR) != 0) return ENOTSUP;
    const std::optional<File> file = file_of(added.descriptor());
    if (!file) return EBADF;
    added.file = *file;
  }
  if (knote == knotes_.end()) {
    knotes_.push_back(added);
    knote = knotes_.end() - 1;
  } else {
    added.is_triggered = knote->is_triggered;
    *knote = added;
  }
  return 0;
} catch (const std::bad_alloc&) {
  return ENOMEM;
}

int Queue::change(const Event& change) noexcept {
  const std::lock_guard lock(mutex_);
  const bool is_user = change.filter == EVFILT_USER;
  if (!is_user && change.filter != EVFILT_READ && change.filter != EVFILT_WRITE) return EINVAL;
  Place knote = find(change);
  if ((change.flags & EV_ADD) != 0) {
    if (const int error = add(change, knote); error != 0) return error;
  } else if (knote == knotes_.end()) {
    return is_user || file_of(static_cast<int>(change.ident)) ? ENOENT : EBADF;
  }
  if ((change.flags & EV_DELETE) != 0) {
    knotes_.erase(knote);
  } else {
    if ((change.flags & EV_ENABLE) != 0) knote->is_enabled = true;
    if ((change.flags & EV_DISABLE) != 0) knote->is_enabled = false;
    if (is_user && (change.fflags & NOTE_TRIGGER) != 0) knote->is_triggered = true;
  }
  ++change_count_;
  ::eventfd_write(signal_, 1);  // another thread's wait must see the change
  return 0;
}

// Returns whether a user event waits to be reported.
bool Queue::list_entries() {
  std::erase_if(knotes_, is_stale);
  bool is_triggered = false;
  entries_.clear();
  entries_.push_back({.fd = signal_, .events = POLLIN, .revents = 0});
  for (const Knote& knote : knotes_) {
    is_triggered |= knote.is_triggered && knote.is_enabled;
    const bool is_polled = knote.watches_file() && knote.is_enabled;
    entries_.push_back(
        {.fd = is_polled ? knote.descriptor() : -1, .events = knote.wanted(), .revents = 0});
  }
  return is_triggered;
}

int Queue::wait(Event* events, int room, const timespec* timeout) noexcept try {
  std::optional<Clock::time_point> deadline;
  if (timeout != nullptr) {
    deadline = Clock::now() + std::chrono::seconds(timeout->tv_sec) +
               std::chrono::nanoseconds(timeout->tv_nsec);
  }
  while (true) {
    std::unique_lock lock(mutex_);
    eventfd_t ignored = 0;
    ::eventfd_read(signal_, &ignored);
    const bool is_triggered = list_entries();
    const std::uint64_t seen = change_count_;
    timespec left{};
    if (deadline && !is_triggered) {
      const auto all = std::max<Clock::duration>(*deadline - Clock::now(), Clock::duration::zero());
      const auto seconds = std::chrono::floor<std::chrono::seconds>(all);
      left = {.tv_sec = seconds.count(), .tv_nsec = (all - seconds).count()};
    }
    const bool is_bounded = deadline || is_triggered;
    lock.unlock();
    const int ready =
        ::ppoll(entries_.data(), entries_.size(), is_bounded ? &left : nullptr, nullptr);
    if (ready < 0) return -1;
    lock.lock();
    if (change_count_ != seen) continue;  // the entries are no longer those of the knotes
    if (const int count = collect(events, room); count > 0) return count;
    if (deadline && Clock::now() >= *deadline) return 0;
  }
} catch (const std::bad_alloc&) {
  errno = ENOMEM;
  return -1;
}

int Queue::collect(Event* events, int room) noexcept {
  int count = 0;
  const std::size_t knote_count = knotes_.size();
  const std::size_t begin = first_;
  for (std::size_t i = 0; i < knote_count && count < room; ++i) {
    const std::size_t at = (begin + i) % knote_count;
    Knote& knote = knotes_[at];
    const std::optional<Event> event =
        knote.is_enabled ? event_of(knote, entries_[at + 1].revents) : std::nullopt;
    if (!event) continue;
    events[count++] = *event;
    first_ = at + 1;
    if ((knote.event.flags & EV_CLEAR) != 0) knote.is_triggered = false;
    if ((knote.event.flags & EV_DISPATCH) != 0) knote.is_enabled = false;
    knote.is_over = (knote.event.flags & EV_ONESHOT) != 0;
  }
  std::erase_if(knotes_, [](const Knote& knote) { return knote.is_over; });
  return count;
}

/// The queues of this process, by descriptor. One that was closed stays until its number is used
/// again.
class Queues {
 public:
  int open() noexcept {
    const int signal = ::eventfd(0, EFD_NONBLOCK);
    if (signal < 0) return -1;
    try {
      auto queue = std::make_shared<Queue>(signal);
      const std::lock_guard lock(mutex_);
      queues_[signal] = std::move(queue);
      return signal;
    } catch (const std::bad_alloc&) {
      ::close(signal);
      errno = ENOMEM;
      return -1;
    }
  }
  std::shared_ptr<Queue> find(int number) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = queues_.find(number);
    return found != queues_.end() ? found->second : nullptr;
  }

 private:
  std::mutex mutex_;
  std::map<int, std::shared_ptr<Queue>> queues_;
};

Queues& queues() noexcept {
  static Queues all;
  return all;
}

}  // namespace
}  // namespace skua::testing

int kqueue() { return skua::testing::queues().open(); }

int kevent(int number, const struct kevent* changes, int change_count, struct kevent* events,
           int event_count, const struct timespec* timeout) {
  const auto queue = skua::testing::queues().find(number);
  if (queue == nullptr) {
    errno = EBADF;
    return -1;
  }
  // The events may take the place of the changes, so each is copied before it is answered.
  int answered = 0;
  for (int i = 0; i < change_count; ++i) {
    struct kevent change = changes[i];
    const int error = queue->change(change);
    if (error == 0 && (change.flags & EV_RECEIPT) == 0) continue;
    if (answered == event_count) {
      errno = error;
      return error == 0 ? 0 : -1;
    }
    change.flags = EV_ERROR;
    change.data = error;
    events[answered++] = change;
  }
  if (answered > 0 || event_count == 0) return answered;
  return queue->wait(events, event_count, timeout);
}
