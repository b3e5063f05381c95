// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

#include "net/stream.hpp"

namespace skua::net {

/// A stream whose n-th operation fails, for tests that fail every operation in turn.
///
/// Wraps another stream. Operations are start_receive, each receive, send and send_file, in the
/// order in which they happen. A failing receive ends receiving; a failing send sends nothing.
/// Everything else is passed on.
class FaultStream final : public Stream, private StreamSink {
 public:
  /// `failing_operation` counts from 1; with 0 all operations succeed.
  FaultStream(std::unique_ptr<Stream> inner, std::uint64_t failing_operation,
              Error error = Errc::Reset);

  /// Reports a failure that could not be reported inside the operation. Returns whether there
  /// was one. Call it after each pump or turn.
  bool deliver();
  /// The number of operations so far: the last n that a test has to try.
  [[nodiscard]] std::uint64_t operation_count() const noexcept { return operation_count_; }
  [[nodiscard]] Stream& inner() noexcept { return *inner_; }

  void start_receive() override;
  void stop_receive() override;
  std::size_t send(std::span<const Slice> slices) override;
  std::size_t send_file(int file, std::uint64_t offset, std::size_t size_bytes) override;
  void shutdown_write() override { inner_->shutdown_write(); }
  void close() override;

  [[nodiscard]] Address peer() const override { return inner_->peer(); }
  [[nodiscard]] Address local() const override { return inner_->local(); }

 private:
  void on_connect(Error error) override { sink().on_connect(error); }
  void on_receive(std::span<char> bytes) override;
  void on_receive_end(Error error) override;
  void on_sent(std::size_t count) override { sink().on_sent(count); }
  void on_send_failed(Error error) override { sink().on_send_failed(error); }
  void on_closed() override { tell_closed(); }

  [[nodiscard]] bool fails_now() noexcept { return ++operation_count_ == failing_operation_; }

  std::unique_ptr<Stream> inner_;
  std::uint64_t failing_operation_;
  std::uint64_t operation_count_ = 0;
  Error error_;
  bool owes_receive_end_ = false;
  bool owes_send_failed_ = false;
};

}  // namespace skua::net
