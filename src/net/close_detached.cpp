// SPDX-License-Identifier: MIT
// A stream whose owner has gone gets one that only waits for its end.
#include "net/close_detached.hpp"

#include <utility>

namespace skua::net {
namespace {

/// Owns itself until its stream is closed.
class LastOwner final : public StreamSink {
 public:
  LastOwner(std::unique_ptr<Stream> stream, std::shared_ptr<const void> sent) noexcept
      : sent_(std::move(sent)), stream_(std::move(stream)) {}
  void close() {
    stream_->listen(*this);
    stream_->close();
  }

 private:
  void on_receive(std::span<char> /*bytes*/) override {}
  void on_receive_end(Error /*error*/) override {}
  void on_sent(std::size_t /*count*/) override {}
  void on_send_failed(Error /*error*/) override {}
  void on_closed() override { const std::unique_ptr<LastOwner> owned(this); }

  std::shared_ptr<const void> sent_;  // goes after the stream
  std::unique_ptr<Stream> stream_;
};

}  // namespace

void close_detached(std::unique_ptr<Stream> stream, std::shared_ptr<const void> sent) {
  auto owner = std::make_unique<LastOwner>(std::move(stream), std::move(sent));
  owner->close();
  static_cast<void>(owner.release());  // on_closed takes it back
}

}  // namespace skua::net
