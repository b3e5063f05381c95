// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include "net/stream.hpp"

namespace skua::net {

/// Closes a stream that has no user any more, and destroys it once closed: in a later turn of
/// its loop, or with the loop. It reports no more events. Must not be called in its callbacks.
/// `sent` is the memory of a send that may be pending, and lives as long as the stream.
///
/// Ends with: std::bad_alloc, unless provide_last_owner() was called on the stream.
void close_detached(std::unique_ptr<Stream> stream, std::shared_ptr<const void> sent = {});

/// A stream on its way to its user, closed if it never gets there. It should have a last owner
/// by then, as destructors do not throw. Take it out to close it: a stream is closed only once.
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
