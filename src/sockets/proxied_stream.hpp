// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "net/stream.hpp"
#include "skua/address.hpp"
#include "skua/error.hpp"
#include "skua/tls.hpp"

namespace skua::sockets {

/// Learns of connections from a proxy that do not begin with a valid header.
class ProxiedStreamOwner {
 public:
  /// `proxy` is the address of the connection itself.
  virtual void on_bad_proxy_header(Error why, const Address& proxy) noexcept = 0;

 protected:
  ~ProxiedStreamOwner() = default;
};

/// A stream from a proxy: takes the PROXY header from its beginning, and passes on what follows.
///
/// on_established() says that the header is complete; from then on, peer() and local() are those
/// that it names, if it names any. Instead of a malformed header, the sink gets the end of the
/// stream, MalformedProxyHeader.
///
/// Lifetime:  until its sink's on_closed(), like the inner stream; `owner` outlives it.
class ProxiedStream final : public net::Stream, private net::StreamSink {
 public:
  ProxiedStream(std::unique_ptr<net::Stream> inner, ProxiedStreamOwner& owner);

  void start_receive() override { inner_->start_receive(); }
  void stop_receive() override { inner_->stop_receive(); }
  std::size_t send(std::span<const net::Slice> slices) override { return inner_->send(slices); }
  net::Sent try_send(std::span<const net::Slice> slices) override {
    return inner_->try_send(slices);
  }
  std::size_t send_file(int file, std::uint64_t offset, std::size_t size_bytes) override {
    return inner_->send_file(file, offset, size_bytes);
  }
  void shutdown_write() override { inner_->shutdown_write(); }
  void close() override;

  [[nodiscard]] bool is_established() const noexcept override { return has_header_; }
  [[nodiscard]] bool is_handshaking() const noexcept override { return !kept_.empty(); }
  [[nodiscard]] bool is_secure() const noexcept override { return inner_->is_secure(); }
  [[nodiscard]] bool covers(std::string_view host) const override { return inner_->covers(host); }
  [[nodiscard]] std::string_view protocol() const noexcept SKUA_LIFETIMEBOUND override {
    return inner_->protocol();
  }
  [[nodiscard]] std::optional<TlsInfo> tls() const override { return inner_->tls(); }
  [[nodiscard]] Address peer() const override;
  [[nodiscard]] Address local() const override;

  /// Whether the client speaks TLS with the proxy, as the header says.
  [[nodiscard]] bool is_client_secure() const noexcept { return is_client_secure_; }

 private:
  enum class State : std::uint8_t { Header, Open, Ended, Closing };

  void on_receive(std::span<char> bytes) override;
  void on_receive_end(Error error) override;
  void on_sent(std::size_t count) override { sink().on_sent(count); }
  void on_send_failed(Error error) override { sink().on_send_failed(error); }
  void on_closed() override { tell_closed(); }

  Result<std::optional<std::size_t>> take_header(std::string_view bytes) noexcept;
  void end(Error error);
  void refuse(Error why);

  std::unique_ptr<net::Stream> inner_;
  ProxiedStreamOwner& owner_;
  std::string kept_;  ///< an incomplete header
  Address client_;    ///< Family::None: that of the connection
  Address server_;    ///< likewise
  State state_ = State::Header;
  bool has_header_ = false;
  bool is_client_secure_ = false;
};

}  // namespace skua::sockets
