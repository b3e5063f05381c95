// SPDX-License-Identifier: MIT
// In: data of an HTTP/2 stream, and its end. Out: the calls of a stream's sink. Nothing is reported
// from inside a call: the connection asks for news at the end of its turn, when it is safe to end
// the exchange, too.
#include "client/wire/h2_tunnel.hpp"

#include <optional>
#include <string>
#include <utility>

#include "client/wire/client_stream.hpp"
#include "client/wire/h2_connection.hpp"

namespace skua::client {

H2Tunnel::H2Tunnel(ClientStream& stream, ExchangePointer exchange, Pool::Lease lease) noexcept
    : stream_(stream), lease_(std::move(lease)), exchange_(std::move(exchange)) {}

H2Tunnel::~H2Tunnel() {
  if (exchange_ != nullptr) stream_.leave_tunnel();
}

void H2Tunnel::start_receive() {
  is_receiving_ = true;
  stream_.connection().call(stream_);
}

// Takes all or nothing: what is there belongs to one turn of the tunnel's other side.
std::size_t H2Tunnel::send(std::span<const net::Slice> slices) {
  if (is_send_impossible_ || stream_.failure() || !stream_.has_room()) {
    is_send_pending_ = true;
    stream_.connection().call(stream_);
    return 0;
  }
  std::size_t count = 0;
  for (const net::Slice& slice : slices) {
    stream_.send({slice.data, slice.size_bytes});
    count += slice.size_bytes;
  }
  return count;
}

// Tunnels have no files.
std::size_t H2Tunnel::send_file(int, std::uint64_t, std::size_t) {
  is_send_impossible_ = true;
  return send({});
}

void H2Tunnel::shutdown_write() { stream_.end_output(); }

void H2Tunnel::close() {
  is_closing_ = true;
  stream_.connection().call(stream_);
}

bool H2Tunnel::is_secure() const noexcept { return stream_.connection().stream().is_secure(); }
Address H2Tunnel::peer() const { return stream_.connection().stream().peer(); }
Address H2Tunnel::local() const { return stream_.connection().stream().local(); }

bool H2Tunnel::has_input() const noexcept {
  if (!is_receiving_ || is_end_told_) return false;
  return stream_.has_data() || stream_.end_of_data().has_value();
}

bool H2Tunnel::has_send_ended() const noexcept {
  if (!is_send_pending_) return false;
  return is_send_impossible_ || stream_.failure().has_value() || stream_.has_room();
}

bool H2Tunnel::has_news() const noexcept { return is_closing_ || has_input() || has_send_ended(); }

void H2Tunnel::tell() {
  if (!is_closing_ && has_input()) tell_input();
  if (!is_closing_ && has_send_ended()) tell_send();
  if (is_closing_) end();
}

void H2Tunnel::tell_send() {
  is_send_pending_ = false;
  if (!is_send_impossible_ && !stream_.failure()) return sink().on_sent(0);
  is_send_impossible_ = true;
  sink().on_send_failed(stream_.failure().value_or(Error(Errc::Unsupported, "file")));
}

void H2Tunnel::tell_input() {
  if (stream_.has_data()) {
    std::string bytes = stream_.take_data();
    return sink().on_receive(bytes);
  }
  if (const std::optional<Error> error = stream_.end_of_data()) {
    is_end_told_ = true;
    sink().on_receive_end(*error);
  }
}

void H2Tunnel::end() {
  stream_.leave_tunnel();
  exchange_.reset();
  lease_.release();
  tell_closed();
}

}  // namespace skua::client
