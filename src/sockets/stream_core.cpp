// SPDX-License-Identifier: MIT
// In: events of a pump. Out: results for the tasks that wait, or calls of the user's functions.
// Bytes go straight into the room of the task that receives. What does not fit is kept, and no more
// is received until somebody asks, so a peer cannot make an idle task hold more than one batch.
#include "sockets/stream_core.hpp"

#include <algorithm>
#include <utility>

#include "loop/timed_wait.hpp"

namespace skua::sockets {
namespace {

// send() copies this much at a time; the rest waits in the caller's memory.
constexpr std::size_t piece_bytes = 256_KiB;

template <class... Arguments>
std::shared_ptr<const std::function<void(Arguments...)>> shared(
    std::function<void(Arguments...)> callback) {
  if (!callback) return nullptr;
  return std::make_shared<const std::function<void(Arguments...)>>(std::move(callback));
}

Error closed() noexcept { return {Errc::Closed, "socket"}; }

}  // namespace

/// The task that receives.
class StreamCore::Receiving {
 public:
  explicit Receiving(StreamCore& core) noexcept : core_(core) { core.is_receiving_ = true; }
  Receiving(const Receiving&) = delete;
  Receiving& operator=(const Receiving&) = delete;
  ~Receiving() {
    core_.room_ = {};
    core_.is_receiving_ = false;
    core_.pump_.set_receiving(core_.receive_callback_ != nullptr);
  }

 private:
  StreamCore& core_;
};

/// A task that sends, or waits for those that began before it. Bytes that are written meanwhile
/// follow its own, so that the order is that of the calls.
class StreamCore::Sending {
 public:
  explicit Sending(StreamCore& core) noexcept
      : core_(core), previous_(std::exchange(core.last_sending_, this)) {
    if (previous_ != nullptr) previous_->next_ = this;
  }
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;
  ~Sending() {
    (next_ != nullptr ? next_->previous_ : core_.last_sending_) = previous_;
    if (previous_ != nullptr) previous_->next_ = next_;
    if (!written_.empty()) core_.pump_.guarded([this] { pass_on(); });
    if (previous_ != nullptr) return;
    (next_ != nullptr ? next_->first_ : core_.writers_).wake_all();
  }

  [[nodiscard]] bool is_first() const noexcept { return previous_ == nullptr; }
  /// Woken when it is its turn; others need not look.
  [[nodiscard]] skua::detail::WaiterList& first() noexcept { return first_; }
  void write(std::string_view bytes) {
    written_.append(bytes);
    core_.written_later_bytes_ += bytes.size();
  }

 private:
  void pass_on() {
    core_.written_later_bytes_ -= written_.size();
    if (previous_ != nullptr) {
      previous_->write(written_);
    } else if (core_.can_send()) {
      core_.queue(written_);
    }
  }

  StreamCore& core_;
  Sending* previous_;  // null: it is its turn
  Sending* next_ = nullptr;
  skua::detail::WaiterList first_;
  std::string written_;
};

StreamCore::Self StreamCore::open(loop::Loop& loop, std::unique_ptr<net::Stream> stream) {
  Self core(new StreamCore(loop));
  core->self_ = core;
  core->pump_.take(std::move(stream));
  return core;
}

// Receiving ---------------------------------------------------------------------------------------

Task<Result<void>> StreamCore::wait(skua::detail::WaiterList& list, loop::Instant deadline) {
  const Duration left = deadline - loop().now();
  if (left <= Duration(0)) co_return Error(Errc::TimedOut, "socket");
  co_await loop::TimedWait(loop(), list, left);
  co_return Result<void>();
}

/// Waits until bytes are in the room, or in unread_ without one.
Task<Result<void>> StreamCore::receive_more(std::span<char> room, loop::Instant deadline) {
  if (is_receiving_) co_return Error(Errc::AlreadyStarted, "receive");
  const Receiving receiving(*this);
  const std::size_t had = unread_.size();
  room_ = room;
  received_ = 0;
  while (received_ == 0 && unread_.size() == had) {
    if (end_) co_return *end_;
    if (!is_open()) co_return closed();
    pump_.set_receiving(true);
    const Result<void> waited = co_await wait(readers_, deadline);
    if (!waited) co_return waited;
  }
  co_return Result<void>();
}

std::size_t StreamCore::take_unread(std::span<char> room) noexcept {
  const std::string_view taken = unread().substr(0, room.size());
  std::ranges::copy(taken, room.begin());
  drop_unread(taken.size());
  return taken.size();
}

/// Moves the rest only once the used part is the larger one, so that the cost is linear.
void StreamCore::drop_unread(std::size_t count) noexcept {
  unread_used_ += count;
  if (unread_used_ < unread_.size() - unread_used_) return;
  unread_.erase(0, std::exchange(unread_used_, 0));
  if (unread_.empty()) unread_ = std::string();  // an idle stream owns no buffer
}

Task<Result<std::size_t>> StreamCore::receive(Self self, std::span<char> room, Duration patience) {
  if (!self->unread().empty() || room.empty()) co_return self->take_unread(room);
  const loop::Instant deadline = later(self->loop().now(), patience);
  const Result<void> more = co_await self->receive_more(room, deadline);
  if (!more) co_return more.error();
  co_return self->received_;
}

Task<Result<void>> StreamCore::receive_all(Self self, std::span<char> room, Duration patience) {
  const loop::Instant deadline = later(self->loop().now(), patience);
  room = room.subspan(self->take_unread(room));
  while (!room.empty()) {
    const Result<void> more = co_await self->receive_more(room, deadline);
    if (!more) co_return more;
    room = room.subspan(self->received_);
  }
  co_return Result<void>();
}

Task<Result<std::string>> StreamCore::receive_until(Self self, std::string end,
                                                    std::size_t max_bytes, Duration patience) {
  const loop::Instant deadline = later(self->loop().now(), patience);
  const std::span<char> no_room;
  std::size_t searched = 0;
  while (true) {
    const std::string_view unread = self->unread();
    const std::size_t at = unread.find(end, searched);
    if (at != unread.npos && at <= max_bytes) {
      std::string found(unread.substr(0, at));
      self->drop_unread(at + end.size());
      co_return found;
    }
    const bool has_too_much =
        unread.size() >= end.size() && unread.size() - end.size() >= max_bytes;
    if (at != unread.npos || has_too_much) co_return Error(Errc::MessageTooLong, "receive");
    // All but the last byte of the end may have come already.
    searched = unread.size() - std::min(unread.size(), end.size() - 1);
    const Result<void> more = co_await self->receive_more(no_room, deadline);
    if (!more) co_return more.error();
  }
}

void StreamCore::on_receive(std::span<char> bytes) {
  const std::string_view text(bytes.data(), bytes.size());
  if (receive_callback_ != nullptr && unread().empty()) return deliver(text);
  if (receive_callback_ != nullptr) {  // before settle() has delivered what was kept
    unread_.append(text);
    return deliver_unread();
  }
  const std::size_t count = std::min(room_.size(), bytes.size());
  std::copy_n(bytes.begin(), count, room_.begin());
  received_ += count;
  room_ = room_.subspan(count);
  unread_.append(text.substr(count));
  pump_.set_receiving(false);
  readers_.wake_all();
}

void StreamCore::on_receive_end(Error error) {
  end_ = error.code() == Errc::None ? closed() : error;
  readers_.wake_all();
}

// Sending -----------------------------------------------------------------------------------------

Error StreamCore::send_error() const noexcept { return send_failure_ ? *send_failure_ : closed(); }

Task<Result<void>> StreamCore::send(Self self, std::string_view bytes, Duration patience) {
  const loop::Instant deadline = later(self->loop().now(), patience);
  // NOLINTNEXTLINE(misc-const-correctness): write() changes it through last_sending_
  Sending sending(*self);
  while (!sending.is_first()) {
    const Result<void> waited = co_await self->wait(sending.first(), deadline);
    if (!waited) co_return waited;
  }
  if (!self->can_send()) co_return self->send_error();
  const net::Slice slice{bytes.data(), bytes.size()};
  bytes.remove_prefix(bytes.empty() ? 0 : self->pump_.send_now({&slice, 1}));
  while (true) {
    self->pump_.output().append(bytes.substr(0, piece_bytes));
    bytes.remove_prefix(std::min(bytes.size(), piece_bytes));
    self->pump_.flush();
    const Result<void> drained = co_await drain_queue(self, deadline);
    if (!drained || bytes.empty()) co_return drained;
  }
}

Task<Result<void>> StreamCore::drain(Self self, loop::Instant deadline) {
  while (self->last_sending_ != nullptr) {
    const Result<void> waited = co_await self->wait(self->writers_, deadline);
    if (!waited) co_return waited;
  }
  const Result<void> drained = co_await drain_queue(self, deadline);
  co_return drained;
}

Task<Result<void>> StreamCore::drain_queue(Self self, loop::Instant deadline) {
  while (!self->pump_.has_sent_all() && self->can_send()) {
    self->pump_.flush();
    if (self->pump_.has_sent_all()) break;
    const Result<void> waited = co_await self->wait(self->writers_, deadline);
    if (!waited) co_return waited;
  }
  if (!self->can_send()) co_return self->send_error();
  co_return Result<void>();
}

void StreamCore::write(std::string_view bytes) {
  if (!can_send()) return;
  if (last_sending_ != nullptr) return last_sending_->write(bytes);
  queue(bytes);
}

void StreamCore::queue(std::string_view bytes) {
  pump_.output().append(bytes);
  has_backlog_ = true;
  pump_.settle_later();
}

std::uint64_t StreamCore::unsent_bytes() const noexcept {
  if (send_failure_) return 0;  // nothing waits any more
  return pump_.output().size_bytes() + written_later_bytes_;
}

void StreamCore::on_sent(std::uint64_t /*count*/) {
  if (!pump_.output().empty()) return;
  writers_.wake_all();
  if (unsent_bytes() != 0 || !std::exchange(has_backlog_, false)) return;
  if (const auto call = sent_callback_) loop().call_user([&] { (*call)(Errc::None); });
}

void StreamCore::on_send_failed(Error error) {
  send_failure_ = error;
  pump_.output().clear();
  writers_.wake_all();
  if (const auto call = sent_callback_) loop().call_user([&] { (*call)(error); });
}

// Callbacks ---------------------------------------------------------------------------------------

void StreamCore::on_receive(std::function<void(std::string_view)> callback) {
  receive_callback_ = shared(std::move(callback));
  if (!is_open()) return;
  pump_.set_receiving(receive_callback_ != nullptr || is_receiving_);
  pump_.settle_later();  // for what has arrived already
}

void StreamCore::on_end(std::function<void(Error)> callback) {
  end_callback_ = shared(std::move(callback));
  if (is_open()) pump_.settle_later();
}

void StreamCore::on_sent(std::function<void(Error)> callback) {
  sent_callback_ = shared(std::move(callback));
}

void StreamCore::deliver(std::string_view bytes) {
  const auto call = receive_callback_;
  loop().call_user([&] { (*call)(bytes); });
}

void StreamCore::deliver_unread() {
  const std::string bytes = std::exchange(unread_, std::string());
  deliver(std::string_view(bytes).substr(std::exchange(unread_used_, 0)));
}

void StreamCore::tell_end() {
  if (!end_ || end_callback_ == nullptr || std::exchange(is_end_told_, true)) return;
  const auto call = end_callback_;
  const Error why = end_->code() == Errc::Closed ? Error(Errc::None) : *end_;
  loop().call_user([&] { (*call)(why); });
}

void StreamCore::settle() {
  const Self alive = shared_from_this();
  if (receive_callback_ != nullptr && !unread().empty()) deliver_unread();
  if (is_open()) tell_end();
  if (is_open()) pump_.flush();
  if (pump_.has_sent_all()) writers_.wake_all();
}

// The end -----------------------------------------------------------------------------------------

Task<Result<void>> StreamCore::shutdown_write(Self self) {
  const Result<void> drained = co_await drain(self, loop::Instant::max());
  if (drained) self->stream().shutdown_write();
  co_return drained;
}

Task<> StreamCore::finish(Self self, Duration patience) {
  const loop::Instant deadline = later(self->loop().now(), patience);
  const Result<void> drained = co_await drain(self, deadline);
  if (!drained) {
    self->close();
    co_return;
  }
  self->drop_unread(self->unread().size());
  self->pump_.linger(deadline - self->loop().now());
  while (self->pump_.state() == net::StreamPump::State::Lingering) {
    co_await loop::TimedWait(self->loop(), self->readers_, Duration::max());
  }
}

void StreamCore::close() noexcept {
  receive_callback_.reset();
  end_callback_.reset();
  sent_callback_.reset();
  pump_.close();
}

void StreamCore::wake_all() noexcept {
  readers_.wake_all();
  writers_.wake_all();
}

std::unique_ptr<net::Stream> StreamCore::give_up() noexcept {
  std::unique_ptr<net::Stream> stream = pump_.give_up();
  wake_all();
  self_.reset();
  return stream;
}

void StreamCore::on_out_of_memory() noexcept {
  end_ = Error(Errc::OutOfMemory, "socket");
  send_failure_ = end_;
  close();
}

}  // namespace skua::sockets
