// SPDX-License-Identifier: MIT
// In: connections, from listeners and from other threads. Out: those that the owner serves, while
// all threads together are below the cap.
#include "sockets/acceptor.hpp"

#include <new>
#include <utility>

#include "net/listener.hpp"
#include "net/socket.hpp"
#include "net/tcp_stream.hpp"
#include "tls/tls_stream.hpp"

namespace skua::sockets {
namespace {

constexpr Duration cap_retry = 100ms;

}  // namespace

class Acceptor::Door final : private net::ListenerSink {
 public:
  Door(Acceptor& acceptor, Socket socket, Queue queue)
      : acceptor_(acceptor),
        queue_(queue),
        listener_(acceptor.loop_, std::move(socket), static_cast<net::ListenerSink&>(*this)) {}

  void resume() { listener_.resume(); }
  void pause() { listener_.pause(); }
  void close() { listener_.close(); }
  void drain() { queue_ == Queue::Own ? listener_.drain() : listener_.close(); }
  [[nodiscard]] int descriptor() const noexcept { return listener_.descriptor(); }
  void share_queue() noexcept { queue_ = Queue::Shared; }

 private:
  void on_accept(Socket connection) override { acceptor_.accept(std::move(connection)); }
  void on_accept_paused(Error why) override { acceptor_.owner_.on_accept_paused(why); }
  void on_listener_closed() override { acceptor_.door_closed(*this); }

  Acceptor& acceptor_;
  Queue queue_;
  net::Listener listener_;
};

Acceptor::Acceptor(loop::Loop& loop, tls::ReloadableContext* tls, ConnectionCount& count,
                   AcceptorOwner& owner) noexcept
    : loop_(loop),
      tls_(tls),
      count_(count),
      owner_(owner),
      resume_timer_(loop.timers(), loop::call_member<&Acceptor::update>, this) {}

Acceptor::~Acceptor() = default;

void Acceptor::listen(Socket socket, Queue queue) {
  net::set_no_delay(socket.descriptor());  // connections inherit it
  doors_.push_back(std::make_unique<Door>(*this, std::move(socket), queue));
  doors_.back()->resume();
}

void Acceptor::duplicate_listeners(std::vector<Socket>& sockets) const {
  for (const auto& door : doors_) {
    Socket copy(bsd::duplicate(door->descriptor()));
    if (copy) sockets.push_back(std::move(copy));
  }
}

void Acceptor::share_queues() noexcept {
  for (const auto& door : doors_) door->share_queue();
}

void Acceptor::accept(Socket connection) noexcept try {
  Socket admitted = owner_.admit(std::move(connection));
  if (!admitted) return;
  if (hand_over(admitted)) return update();
  serve(std::move(admitted));
} catch (const std::bad_alloc&) {
  owner_.on_accept_failed();
}

bool Acceptor::hand_over(Socket& connection) {
  if (sharers_.empty()) return false;
  next_sharer_ = (next_sharer_ + 1) % sharers_.size();
  Acceptor& next = *sharers_[next_sharer_];
  return &next != this && next.adopt(connection);
}

bool Acceptor::adopt(Socket& connection) {
  const std::lock_guard lock(adopting_);
  if (has_ended_) return false;
  // First, so that none is left without a post if memory runs out.
  if (adopted_.empty()) loop_.post([this] { serve_adopted(); });
  adopted_.push_back(std::move(connection));
  // It counts at once: a thread that is busy must not let the others exceed the cap.
  count_.open.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void Acceptor::serve_adopted() {
  std::vector<Socket> batch;
  {
    const std::lock_guard lock(adopting_);
    batch.swap(adopted_);
  }
  for (Socket& connection : batch) {
    is_counted_ = true;
    if (!is_closed_) serve(std::move(connection));
    if (std::exchange(is_counted_, false)) count_.open.fetch_sub(1, std::memory_order_relaxed);
  }
  owner_.on_accept_progress();
}

void Acceptor::serve(Socket connection) noexcept try {
  std::unique_ptr<net::Stream> stream =
      std::make_unique<net::TcpStream>(loop_.backend(), std::move(connection));
  if (wrapper_ != nullptr) [[unlikely]]
    wrapper_->wrap(stream);
  if (tls_ != nullptr) {
    stream = std::make_unique<tls::TlsStream>(loop_, std::move(stream), tls_->current());
  }
  owner_.serve(std::move(stream));
} catch (const std::bad_alloc&) {
  owner_.on_accept_failed();
}

void Acceptor::opened() noexcept {
  if (!std::exchange(is_counted_, false)) count_.open.fetch_add(1, std::memory_order_relaxed);
  update();
}

void Acceptor::closed() noexcept {
  count_.open.fetch_sub(1, std::memory_order_relaxed);
  update();
}

void Acceptor::update() noexcept {
  if (doors_.empty() || is_ending_) return;
  if (count_.open.load(std::memory_order_relaxed) < count_.cap) {
    resume_timer_.stop();
    if (!std::exchange(is_at_cap_, false)) return;
    for (const auto& door : doors_) door->resume();
    return;
  }
  resume_timer_.start(cap_retry);
  if (std::exchange(is_at_cap_, true)) return;
  for (const auto& door : doors_) door->pause();
  owner_.on_accept_paused(Errc::None);
}

void Acceptor::door_closed(Door& door) noexcept {
  std::erase_if(doors_, [&door](const auto& own) { return own.get() == &door; });
  owner_.on_accept_progress();
}

void Acceptor::drain() {
  is_ending_ = true;
  resume_timer_.stop();
  for (const auto& door : doors_) door->drain();
}

void Acceptor::close() noexcept {
  is_ending_ = is_closed_ = true;
  resume_timer_.stop();
  for (const auto& door : doors_) door->close();
}

bool Acceptor::end() noexcept {
  if (!doors_.empty()) return false;
  const std::lock_guard lock(adopting_);
  if (adopted_.empty()) has_ended_ = true;  // otherwise serve_adopted() is on its way
  return has_ended_;
}

}  // namespace skua::sockets
