// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <utility>

#include "net/stream.hpp"

namespace skua::net {

/// Closes a stream that has no user any more, and destroys it once closed: in a later turn of
/// its loop, or with the loop. It reports no more events. Must not be called in its callbacks.
void close_detached(std::unique_ptr<Stream> stream) noexcept;

/// A text that a send may still refer to when its sender is gone.
class SentText final : private StreamSink {
 public:
  explicit SentText(std::string whole = {}) noexcept : text(std::move(whole)) {}

  /// Like close_detached(); the text lives as long as the stream.
  static void close(std::unique_ptr<SentText> self, std::unique_ptr<Stream> stream) noexcept;

  std::string text;

 private:
  void on_receive(std::span<char> /*bytes*/) override {}
  void on_receive_end(Error /*error*/) override {}
  void on_sent(std::size_t /*count*/) override {}
  void on_send_failed(Error /*error*/) override {}
  void on_closed() override { const std::unique_ptr<SentText> owned(this); }

  std::unique_ptr<Stream> stream_{};  // once its sender is gone
};

/// A stream on its way to its user, closed if it never gets there. Take it out to close it: a
/// stream is closed only once.
class HeldStream final {
 public:
  template <std::derived_from<Stream> T>
  HeldStream(std::unique_ptr<T> stream) noexcept : stream_(std::move(stream)) {}
  HeldStream(HeldStream&&) noexcept = default;
  HeldStream& operator=(HeldStream&&) = delete;
  ~HeldStream() {
    if (stream_ != nullptr) close_detached(std::move(stream_));
  }

  operator std::unique_ptr<Stream>() && noexcept { return std::move(stream_); }
  explicit operator bool() const noexcept { return stream_ != nullptr; }
  Stream* operator->() const noexcept { return stream_.get(); }
  Stream& operator*() const noexcept { return *stream_; }

 private:
  std::unique_ptr<Stream> stream_;
};

}  // namespace skua::net
