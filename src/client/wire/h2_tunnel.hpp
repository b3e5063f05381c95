// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "client/wire/exchange.hpp"
#include "client/wire/pool.hpp"
#include "net/stream.hpp"

namespace skua::client {

class ClientStream;

/// A stream of an HTTP/2 connection as a stream of bytes, once the server has accepted an extended
/// CONNECT. The end of either side is END_STREAM, and close() before both have ended RST_STREAM.
///
/// Its sink is called at the end of a turn, by the connection.
/// RFC:       8441 §5
class H2Tunnel final : public net::Stream {
 public:
  /// `exchange` is `stream`.
  H2Tunnel(ClientStream& stream, ExchangePointer exchange, Pool::Lease lease) noexcept;
  ~H2Tunnel() override;

  void start_receive() override;
  void stop_receive() override { is_receiving_ = false; }
  std::size_t send(std::span<const net::Slice> slices) override;
  std::size_t send_file(int file, std::uint64_t offset, std::size_t size_bytes) override;
  void shutdown_write() override;
  void close() override;

  [[nodiscard]] bool is_secure() const noexcept override;
  [[nodiscard]] Address peer() const override;
  [[nodiscard]] Address local() const override;

  // For the connection.

  /// Reports whether tell() has something to tell.
  [[nodiscard]] bool has_news() const noexcept;
  /// Calls the sink, which may destroy the tunnel and its exchange.
  void tell();

 private:
  [[nodiscard]] bool has_input() const noexcept;
  [[nodiscard]] bool has_send_ended() const noexcept;
  void tell_input();
  void tell_send();
  void end();

  ClientStream& stream_;
  Pool::Lease lease_;  // given back after the exchange
  ExchangePointer exchange_;
  bool is_receiving_ = false;
  bool is_end_told_ = false;  // of the input
  bool is_send_pending_ = false;
  bool is_send_impossible_ = false;
  bool is_closing_ = false;
};

}  // namespace skua::client
