// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include "net/stream.hpp"

namespace skua::net {

/// Closes a stream that nobody needs any more, and destroys it when it is closed: in a later turn
/// of its loop, or with the loop. Nobody is told anything else of it. Not inside one of its calls.
/// `sent` is kept as long: the memory of a send that may be pending.
///
/// Ends with: std::bad_alloc, unless the stream was provided with a last owner before.
void close_detached(std::unique_ptr<Stream> stream, std::shared_ptr<const void> sent = {});

/// A stream on its way to whoever will listen to it; where it does not get there, it is closed. It
/// ought to have a last owner by then: destructors do not throw. Who closes it takes it out first:
/// a stream is closed once.
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
