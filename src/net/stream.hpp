// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "loop/backend.hpp"
#include "skua/address.hpp"
#include "skua/tls.hpp"

namespace skua::net {

using loop::Slice;

/// The result of a send.
struct Sent {
  std::uint64_t bytes = 0;
  bool is_pending = false;  ///< the stream takes more later: on_sent() follows
};

/// The receiver of a stream's events: called on the loop's thread, never inside a stream's call.
class StreamSink {
 public:
  /// The connection is established (Errc::None) or has failed. Called once, if connect() was.
  virtual void on_connect(Error /*error*/) {}
  /// The TLS handshake, or the PROXY header, is complete. Called once, before all but failures;
  /// never by plain streams.
  virtual void on_established() {}
  /// Bytes have arrived. They are valid and writable during the call only.
  virtual void on_receive(std::span<char> bytes) = 0;
  /// No more bytes will come: the peer ended its side (Errc::None), or an error occurred.
  virtual void on_receive_end(Error error) = 0;
  /// The pending send is over and took `count` more bytes (may be 0); the owner sends the rest.
  virtual void on_sent(std::size_t count) = 0;
  /// The pending send failed; nothing more can be sent.
  virtual void on_send_failed(Error error) = 0;
  /// The stream is closed. This is the last call; it may destroy the stream.
  virtual void on_closed() = 0;

 protected:
  ~StreamSink() = default;
};

/// A bidirectional byte stream: TCP, a Unix socket, TLS over either, or memory in a test.
///
/// Each operation has the contract of the loop::Backend operation of the same name.
class Stream {
 public:
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;

  /// Sets the sink. Call it before the first operation, or to hand over a stream that is idle or
  /// about to be closed.
  void listen(StreamSink& sink) noexcept { sink_ = &sink; }

  virtual void start_receive() = 0;
  virtual void stop_receive() = 0;
  virtual void receive_briefly(bool /*wanted*/) noexcept {}
  virtual std::size_t send(std::span<const Slice> slices) = 0;
  /// An implementation may always take nothing. One that has taken bytes which still wait in it
  /// says that a send is pending.
  virtual Sent try_send(std::span<const Slice> /*slices*/) { return {}; }
  virtual std::size_t send_file(int file, std::uint64_t offset, std::size_t size_bytes) = 0;
  virtual void shutdown_write() = 0;
  virtual void close() = 0;

  /// Whether bytes can flow both ways: for TLS after the handshake, behind a proxy after its PROXY
  /// header, see on_established().
  [[nodiscard]] virtual bool is_established() const noexcept { return true; }
  /// Whether the peer has started a handshake that is not complete yet.
  [[nodiscard]] virtual bool is_handshaking() const noexcept { return false; }
  /// Whether the handshake continued an earlier session.
  [[nodiscard]] virtual bool is_resumed() const noexcept { return false; }
  /// Whether the stream is encrypted, so that nobody on the way can read or change it.
  [[nodiscard]] virtual bool is_secure() const noexcept { return false; }
  /// Whether the certificate shown to the peer is valid for `host`; true if none was shown.
  [[nodiscard]] virtual bool covers(std::string_view) const { return true; }
  /// The negotiated protocol (`h2`); empty if none was negotiated. RFC 7301
  [[nodiscard]] virtual std::string_view protocol() const noexcept SKUA_LIFETIMEBOUND { return {}; }

  /// The negotiated TLS; nullopt if the stream is not encrypted.
  [[nodiscard]] virtual std::optional<TlsInfo> tls() const { return std::nullopt; }

  [[nodiscard]] virtual Address peer() const = 0;
  [[nodiscard]] virtual Address local() const = 0;

 protected:
  Stream() noexcept = default;
  [[nodiscard]] StreamSink& sink() const noexcept { return *sink_; }
  /// Tells the sink that the stream is closed; destroys a stream without a user.
  void tell_closed();

 private:
  friend void close_detached(std::unique_ptr<Stream> stream) noexcept;

  StreamSink* sink_ = nullptr;
};

}  // namespace skua::net
