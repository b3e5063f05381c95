// SPDX-License-Identifier: MIT
// A stream without a user gets an owner that only waits for its end.
#include "net/close_detached.hpp"

#include <utility>

namespace skua::net {

/// Owns itself until its stream is closed.
class LastOwner final : private StreamSink {
 public:
  void close(std::unique_ptr<Stream> stream, std::shared_ptr<const void> sent) {
    stream_ = std::move(stream);
    sent_ = std::move(sent);
    stream_->listen(*this);
    stream_->close();
  }

 private:
  void on_receive(std::span<char> /*bytes*/) override {}
  void on_receive_end(Error /*error*/) override {}
  void on_sent(std::size_t /*count*/) override {}
  void on_send_failed(Error /*error*/) override {}
  void on_closed() override { const std::unique_ptr<LastOwner> owned(this); }

  std::shared_ptr<const void> sent_{};  // destroyed after the stream
  std::unique_ptr<Stream> stream_{};
};

Stream::Stream() noexcept = default;
Stream::~Stream() = default;

void Stream::provide_last_owner() { last_owner_ = std::make_unique<LastOwner>(); }

void Stream::take_last_owner(Stream& below) noexcept { last_owner_ = std::move(below.last_owner_); }

void close_detached(std::unique_ptr<Stream> stream, std::shared_ptr<const void> sent) {
  std::unique_ptr<LastOwner> owner = std::move(stream->last_owner_);
  if (owner == nullptr) owner = std::make_unique<LastOwner>();
  owner->close(std::move(stream), std::move(sent));
  static_cast<void>(owner.release());  // on_closed() deletes it
}

}  // namespace skua::net
