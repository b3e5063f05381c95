// SPDX-License-Identifier: MIT
// In: content. Out: the same content as a producer that writes small pieces, each at its time. A
// producer below writes into a queue, and waits while that is not empty.
#include "client/wire/pace.hpp"

#include <algorithm>
#include <chrono>
#include <coroutine>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "client/waiting.hpp"
#include "skua/body_writer.hpp"

namespace skua::client {
namespace {

constexpr std::uint64_t pieces_per_second = 20;

}  // namespace

std::size_t Pace::piece_bytes() const noexcept {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  if (bytes_per_second_ == 0) return most;
  const std::uint64_t piece = std::max<std::uint64_t>(bytes_per_second_ / pieces_per_second, 1);
  return static_cast<std::size_t>(std::min<std::uint64_t>(piece, most));
}

void Pace::note(std::uint64_t count, loop::Instant now) noexcept {
  if (bytes_per_second_ == 0) return;
  // At most a piece, so a second or less; rounded up, so that the limit holds.
  const auto seconds = static_cast<double>(count) / static_cast<double>(bytes_per_second_);
  const auto time = std::chrono::ceil<Duration>(std::chrono::duration<double>(seconds));
  due_ = later(due_ < now - slack ? now : due_, time);
}

namespace {

/// The content that waits for its time.
class Queue final : public skua::detail::BodySink {
 public:
  explicit Queue(skua::detail::BodySink& end) noexcept : end_(end) {}
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  void write(Body&& piece) override {
    if (piece.size_bytes() == 0) return;
    pieces_.push_back(std::make_shared<const Body>(std::move(piece)));
    changed_.wake_all();
  }
  void add_trailer(std::string_view name, std::string_view value) override {
    end_.add_trailer(name, value);
  }
  [[nodiscard]] bool has_room() const noexcept override { return pieces_.empty(); }
  void wait(skua::detail::Waiter& waiter, std::coroutine_handle<> writer) override {
    writers_.park(waiter, writer);
  }

  [[nodiscard]] bool empty() const noexcept { return pieces_.empty(); }
  /// Woken when the queue is no longer empty, or the producer has ended.
  [[nodiscard]] skua::detail::WaiterList& changed() noexcept { return changed_; }
  /// Takes at most this much of the front, without a copy.
  [[nodiscard]] Body take(std::size_t most_bytes) {
    const std::shared_ptr<const Body> front = pieces_.front();
    const std::uint64_t left_bytes = front->size_bytes() - taken_bytes_;
    const std::uint64_t size_bytes = std::min<std::uint64_t>(left_bytes, most_bytes);
    Body taken = part_of(front, taken_bytes_, size_bytes);
    taken_bytes_ += size_bytes;
    if (size_bytes == left_bytes) {
      taken_bytes_ = 0;
      pieces_.pop_front();
      if (pieces_.empty()) writers_.wake_all();
    }
    return taken;
  }

 private:
  static Body part_of(const std::shared_ptr<const Body>& whole, std::uint64_t offset,
                      std::uint64_t size_bytes) {
    if (const FileRange* const file = whole->file()) {
      return Body(FileRange{file->owner, file->file, file->offset + offset, size_bytes});
    }
    const std::string_view text = whole->text().substr(static_cast<std::size_t>(offset),
                                                       static_cast<std::size_t>(size_bytes));
    return Body(SharedText{whole, text});
  }

  skua::detail::BodySink& end_;
  std::deque<std::shared_ptr<const Body>> pieces_;
  std::uint64_t taken_bytes_ = 0;  // of the first
  skua::detail::WaiterList writers_;
  skua::detail::WaiterList changed_;
};

void wake(void* list) noexcept { static_cast<skua::detail::WaiterList*>(list)->wake_all(); }

Task<> send_paced(loop::Loop& loop, std::shared_ptr<const Body> content, Pace pace,
                  BodyWriter& out) {
  Queue queue(skua::detail::sink_of(out));
  BodyWriter writer(queue);
  skua::detail::WaiterList nobody;
  std::optional<Task<>> producer;  // destroyed before what it refers to
  if (const auto* const stream = content->stream()) {
    producer.emplace((*stream)->produce(writer));
    producer->start(wake, &queue.changed());
  } else {
    queue.write(Body(*content));
  }
  while (true) {
    while (queue.empty() && producer && !producer->is_done()) co_await queue.changed().wait();
    if (queue.empty()) break;
    for (Duration left = pace.left(loop.now()); left > Duration(0); left = pace.left(loop.now())) {
      co_await TimedWait(loop, nobody, left);
    }
    Body piece = queue.take(pace.piece_bytes());
    pace.note(piece.size_bytes(), loop.now());
    auto writing = out.write(std::move(piece));
    co_await writing;
  }
  if (producer) producer->result();
}

}  // namespace

Body paced(Body content, std::uint64_t bytes_per_second, loop::Loop& loop) {
  const bool is_stream = content.kind() == Body::Kind::Stream;
  if (bytes_per_second == 0 || (!is_stream && content.size_bytes() == 0)) return content;
  auto made = std::make_shared<BodyStream>();
  made->length_bytes =
      is_stream ? (*content.stream())->length_bytes : std::optional(content.size_bytes());
  const auto kept = std::make_shared<const Body>(std::move(content));
  made->produce = [&loop, kept, pace = Pace(bytes_per_second)](BodyWriter& out) {
    return send_paced(loop, kept, pace, out);
  };
  return Body(std::shared_ptr<const BodyStream>(std::move(made)));
}

}  // namespace skua::client
