// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "loop/backend.hpp"
#include "net/address.hpp"

namespace skua::net {

using loop::Slice;

/// Who listens to a stream. Calls come on the loop's thread, never inside a call to the stream.
class StreamSink {
 public:
  /// The connection is made (Errc::None), or cannot be: once, of a stream that was told to connect.
  virtual void on_connect(Error /*error*/) {}
  /// The stream is secure from here on: once, before all else but a failure; a plain one never says
  /// so.
  virtual void on_established() {}
  /// Bytes have arrived: valid and writable during the call only.
  virtual void on_receive(std::span<char> bytes) = 0;
  /// No more bytes will come: the peer has ended its side (Errc::None), or an error ended it.
  virtual void on_receive_end(Error error) = 0;
  /// The pending send went on by `count` bytes (0 means: send again).
  virtual void on_sent(std::size_t count) = 0;
  /// The pending send failed; nothing more can be sent.
  virtual void on_send_failed(Error error) = 0;
  /// The stream is closed: the last call; it may destroy the stream.
  virtual void on_closed() = 0;

 protected:
  ~StreamSink() = default;
};

/// Owns a stream that nobody needs any more: see close_detached().
class LastOwner;

/// A byte stream both ways: TCP, a Unix socket, TLS over one of them, or memory in a test.
///
/// The contract of each operation is that of the operation of the same name of loop::Backend.
class Stream {
 public:
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream();

  /// Whom to tell; before the first operation, and when an idle stream, or one that is about to be
  /// closed, changes hands.
  void listen(StreamSink& sink) noexcept { sink_ = &sink; }

  virtual void start_receive() = 0;
  virtual void stop_receive() = 0;
  virtual std::size_t send(std::span<const Slice> slices) = 0;
  /// A stream may always take nothing.
  virtual std::size_t try_send(std::span<const Slice> /*slices*/) { return 0; }
  virtual std::size_t send_file(int file, std::uint64_t offset, std::size_t size_bytes) = 0;
  virtual void shutdown_write() = 0;
  virtual void close() = 0;

  /// Whether bytes can go both ways; TLS has to shake hands first and then tells on_established.
  [[nodiscard]] virtual bool is_established() const noexcept { return true; }
  /// Whether the peer has begun to shake hands, and is not through.
  [[nodiscard]] virtual bool is_handshaking() const noexcept { return false; }
  /// Whether nobody on the way can read or change what is sent.
  [[nodiscard]] virtual bool is_secure() const noexcept { return false; }
  /// Whether the certificate that the peer was shown is for `host`; where none is shown, it is.
  [[nodiscard]] virtual bool covers(std::string_view) const { return true; }
  /// What both sides agreed to speak (`h2`); empty where nobody asked. RFC 7301
  [[nodiscard]] virtual std::string_view protocol() const noexcept SKUA_LIFETIMEBOUND { return {}; }

  /// From here on close_detached() needs no memory for it.
  ///
  /// Ends with: std::bad_alloc.
  void provide_last_owner();

  [[nodiscard]] virtual Address peer() const = 0;
  [[nodiscard]] virtual Address local() const = 0;

 protected:
  Stream() noexcept;
  [[nodiscard]] StreamSink& sink() const noexcept { return *sink_; }
  /// That of the stream below, which ends with this one.
  void take_last_owner(Stream& below) noexcept;

 private:
  friend void close_detached(std::unique_ptr<Stream> stream, std::shared_ptr<const void> sent);

  StreamSink* sink_ = nullptr;
  std::unique_ptr<LastOwner> last_owner_;
};

}  // namespace skua::net
