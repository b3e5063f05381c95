// SPDX-License-Identifier: MIT
// In: descriptors of interest. Out: those that are ready.
// They are kept in one array of pollfd, and each handle keeps its index. The first entry is the
// socket that wake() sends to. A descriptor without interest becomes -1, which hides hang-ups.
#include "loop/backends.hpp"

#include <array>
#include <cerrno>
#include <vector>

#include "loop/readiness.hpp"
#include "loop/sockets.hpp"

namespace skua::loop {
namespace {

class PollBackend final : public ReadinessBackend {
 public:
  explicit PollBackend(std::array<int, 2> ends) : ends_(ends) {
    entries_.push_back({});
    entries_.front().fd = ends_[0];
    entries_.front().events = POLLIN;
    handles_.push_back(nullptr);
  }
  ~PollBackend() override {
    settle_closed();
    for (const int end : ends_) bsd::close(end);
  }

  [[nodiscard]] BackendChoice kind() const noexcept override { return BackendChoice::Poll; }
  void turn(Duration timeout) override;
  void wake() noexcept override;

 private:
  int set_interest(Handle& handle, std::uint8_t wanted) override;
  void forget(Handle& handle) override;
  bool add(Handle& handle) noexcept;
  void take_wakes() noexcept;

  std::array<int, 2> ends_;  // of the pair of sockets for wake(): what [1] sends, [0] receives
  std::vector<pollfd> entries_;
  std::vector<Handle*> handles_;  // parallel to entries_
};

void PollBackend::turn(Duration timeout) {
  const int wait = has_unsettled() ? 0 : to_milliseconds(timeout);
  ++calls_.waits;
  int left = bsd::poll(entries_.data(), static_cast<nfds_t>(entries_.size()), wait);
  if (left > 0 && entries_[0].revents != 0) {
    take_wakes();
    --left;
  }
  // Callbacks may append entries, but none is removed before settle().
  for (std::size_t i = 1; left > 0 && i < entries_.size(); ++i) {
    const short events = std::exchange(entries_[i].revents, short{0});
    if (events == 0) continue;
    --left;
    const auto ready = static_cast<std::uint8_t>(((events & POLLIN) != 0 ? Readable : 0) |
                                                 ((events & POLLOUT) != 0 ? Writable : 0));
    dispatch(*handles_[i], ready, (events & (POLLERR | POLLHUP | POLLNVAL)) != 0);
  }
  finish_batch();
  if (has_unsettled()) settle();
}

void PollBackend::wake() noexcept {
  const char byte = 0;
  // Fails only if the socket is full, and then a wake-up is on its way.
  [[maybe_unused]] const ssize_t ignored = bsd::send(ends_[1], &byte, 1, bsd::no_signal);
}

void PollBackend::take_wakes() noexcept {
  std::array<char, 256> bytes;
  do {
    ++calls_.others;
  } while (bsd::recv(ends_[0], bytes.data(), bytes.size(), 0) ==
           static_cast<ssize_t>(bytes.size()));
}

int PollBackend::set_interest(Handle& handle, std::uint8_t wanted) {
  std::uint8_t& bits = armed(handle);
  if ((bits & Registered) == 0) {
    slot(handle) = static_cast<std::uint32_t>(entries_.size());
    if (!add(handle)) return ENOMEM;
  }
  pollfd& entry = entries_[slot(handle)];
  entry.fd = wanted != 0 ? handle.descriptor() : -1;
  entry.events = static_cast<short>(((wanted & Readable) != 0 ? POLLIN : 0) |
                                    ((wanted & Writable) != 0 ? POLLOUT : 0));
  bits = static_cast<std::uint8_t>((bits & ~interest_bits) | wanted | Registered);
  return 0;
}

bool PollBackend::add(Handle& handle) noexcept try {
  entries_.push_back({});
  handles_.push_back(&handle);
  return true;
} catch (const std::bad_alloc&) {
  entries_.resize(handles_.size());
  return false;
}

void PollBackend::forget(Handle& handle) {
  std::uint8_t& bits = armed(handle);
  if ((bits & Registered) == 0) return;
  const std::uint32_t index = slot(handle);
  entries_[index] = entries_.back();  // the last one moves into the gap
  handles_[index] = handles_.back();
  slot(*handles_[index]) = index;
  entries_.pop_back();
  handles_.pop_back();
  bits &= static_cast<std::uint8_t>(~(interest_bits | Registered));
}

}  // namespace

Result<std::unique_ptr<Backend>> make_poll_backend() {
  std::array<int, 2> ends{};
  if (bsd::pair(ends) != 0) return Error::from_system(errno, "socketpair");
  return std::unique_ptr<Backend>(std::make_unique<PollBackend>(ends));
}

}  // namespace skua::loop
