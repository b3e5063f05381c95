// SPDX-License-Identifier: MIT
#pragma once

#include "loop/backend.hpp"
#include "net/socket.hpp"
#include "net/stream.hpp"

namespace skua::net {

/// A TCP or Unix socket on a loop: connected already, or by connect() as the first operation.
///
/// Lifetime: once used, it must live until its sink's on_closed(), which follows close().
class TcpStream final : public Stream, private loop::Handle {
 public:
  TcpStream(loop::Backend& backend, Socket socket) : backend_(backend) {
    backend_.open(*this, socket.release());
  }
  ~TcpStream() override;

  /// Connects; the sink's on_connect follows.
  void connect(const Address& address) {
    backend_.connect(*this, address.data(), address.size_bytes());
  }

  void start_receive() override { backend_.start_receive(*this); }
  void stop_receive() override { backend_.stop_receive(*this); }
  void receive_briefly(bool wanted) noexcept override {
    loop::Backend::receive_briefly(*this, wanted);
  }
  std::size_t send(std::span<const Slice> slices) override { return backend_.send(*this, slices); }
  Sent try_send(std::span<const Slice> slices) override {
    return {.bytes = backend_.try_send(*this, slices)};
  }
  std::size_t send_file(int file, std::uint64_t offset, std::size_t size_bytes) override {
    return backend_.send_file(*this, file, offset, size_bytes);
  }
  void shutdown_write() override { backend_.shutdown_write(*this); }
  void close() override { backend_.close(*this); }
  /// Gives the descriptor away, as Backend::release does; the stream may then be destroyed.
  [[nodiscard]] int release() { return backend_.release(*this); }

  /// Asks the operating system each time, so that an idle connection stores no addresses.
  [[nodiscard]] Address peer() const override;
  [[nodiscard]] Address local() const override;

 private:
  void on_connect(Error error) override { sink().on_connect(error); }
  void on_receive(std::span<char> bytes) override { sink().on_receive(bytes); }
  void on_receive_end(Error error) override { sink().on_receive_end(error); }
  void on_sent(std::size_t count) override { sink().on_sent(count); }
  void on_send_failed(Error error) override { sink().on_send_failed(error); }
  void on_closed() override { tell_closed(); }

  loop::Backend& backend_;
};
static_assert(sizeof(void*) != 8 || sizeof(TcpStream) <= 56);  // 64 with the allocator's head

}  // namespace skua::net
