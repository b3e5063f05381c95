// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>

#include "loop/loop.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua::loop {

/// Waits until a descriptor is ready, without using it. Owns the descriptor.
///
/// Lifetime: shared by its user, the tasks that wait, and, until on_closed(), itself.
class Watch final : private Handle, public std::enable_shared_from_this<Watch> {
 public:
  static std::shared_ptr<Watch> open(Loop& loop, int descriptor);

  /// Like those of DescriptorWatch.
  static Task<Result<void>> readable(std::shared_ptr<Watch> self, Duration patience);
  static Task<Result<void>> writable(std::shared_ptr<Watch> self, Duration patience);
  /// Calls `callback` in each turn in which the descriptor is readable; an empty function stops
  /// that.
  void on_readable(std::function<void()> callback);
  /// Ends all waits with Closed, and closes the descriptor.
  void close() noexcept;
  /// Gives the descriptor back once no operation uses it; see Backend::release.
  [[nodiscard]] int release();

  [[nodiscard]] Loop& loop() noexcept { return loop_; }
  using Handle::descriptor;

 private:
  /// One of the two directions that can be awaited.
  struct Direction {
    skua::detail::WaiterList waiters{};
    bool is_awaited = false;
  };

  explicit Watch(Loop& loop) noexcept : loop_(loop) {}
  bool begins_wait(Direction& direction) noexcept;
  Task<Result<void>> wait(Direction& direction, Duration patience);
  void end_wait(Direction& direction) noexcept;

  void on_readable() override;
  void on_sent(std::size_t count) override;
  void on_send_failed(Error error) override;
  void on_accept_failed(Error error) override;
  void on_closed() override { self_.reset(); }

  Loop& loop_;
  std::shared_ptr<Watch> self_{};  // until closed
  Direction reading_{};
  Direction writing_{};
  std::shared_ptr<const std::function<void()>> callback_{};  // shared with its running call
  Error failure_ = Errc::None;
};

}  // namespace skua::loop
