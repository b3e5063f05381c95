// SPDX-License-Identifier: MIT
// A stream without a user owns itself until it is closed, so that giving one up needs no memory.
#include "net/close_detached.hpp"

#include <utility>

namespace skua::net {
namespace {

/// The sink of all streams without a user.
class Nobody final : public StreamSink {
  void on_receive(std::span<char> /*bytes*/) override {}
  void on_receive_end(Error /*error*/) override {}
  void on_sent(std::size_t /*count*/) override {}
  void on_send_failed(Error /*error*/) override {}
  void on_closed() override {}
};

constinit Nobody nobody;

}  // namespace

void Stream::tell_closed() {
  if (sink_ != &nobody) return sink_->on_closed();
  const std::unique_ptr<Stream> owned(this);
}

void close_detached(std::unique_ptr<Stream> stream) noexcept {
  Stream& closing = *stream.release();  // tell_closed() destroys it
  closing.listen(nobody);
  closing.close();
}

void SentText::close(std::unique_ptr<SentText> self, std::unique_ptr<Stream> stream) noexcept {
  SentText& last = *self.release();  // on_closed() destroys it
  last.stream_ = std::move(stream);
  last.stream_->listen(last);
  last.stream_->close();
}

}  // namespace skua::net
