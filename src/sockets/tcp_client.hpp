// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/intrusive_list.hpp"
#include "loop/loop.hpp"
#include "net/output_queue.hpp"
#include "net/stream_pump.hpp"
#include "skua/tcp_server.hpp"

namespace skua::sockets {

class TcpClient;

/// The setup that the clients of one thread share.
struct TcpClients {
  const TcpServerOptions& options;
  const detail::MakeTcpSession& make_session;
  loop::Loop& loop;
  std::atomic<std::size_t>& kept_bytes;  ///< of all threads; see TcpServerOptions::server_bytes
  net::OutputQueue::Blocks blocks{64};

  /// Called last, when the client is gone; destroys it.
  void (*on_closed)(void* owner, TcpClient& client) noexcept;
  void* owner;
};

/// A client of a TcpServer: joins a connection to the session of the user's.
///
/// Input is shown where it arrived; what the session does not consume is copied. Output leaves at
/// the end of the turn. Lifetime: from its construction until TcpClients::on_closed.
class TcpClient final : public TcpConnection, public base::ListNode, private net::StreamPumpUser {
 public:
  TcpClient(TcpClients& shared, std::unique_ptr<net::Stream> stream);
  ~TcpClient();

  /// Makes the session and starts to receive.
  void start();
  /// Disconnects because the server stops.
  void stop() noexcept;
  void close() noexcept { pump_.close(); }

  [[nodiscard]] std::string_view input() const noexcept override;
  void consume(std::size_t count) noexcept override;
  void send(std::string_view bytes) override;
  [[nodiscard]] std::uint64_t unsent_bytes() const noexcept override {
    return pump_.output().size_bytes();
  }
  void pause() noexcept override { set_paused(true); }
  void resume() noexcept override { set_paused(false); }
  void disconnect() noexcept override { leave(Errc::None); }
  void abort() noexcept override { pump_.close(); }
  [[nodiscard]] Address peer_address() const noexcept override { return pump_.stream().peer(); }
  [[nodiscard]] Address local_address() const noexcept override { return pump_.stream().local(); }
  [[nodiscard]] std::uint64_t received_bytes() const noexcept override { return received_bytes_; }
  [[nodiscard]] std::uint64_t sent_bytes() const noexcept override { return sent_bytes_; }
  [[nodiscard]] std::string_view protocol() const noexcept override {
    return pump_.stream().protocol();
  }

 private:
  void on_receive(std::span<char> bytes) override;
  void on_receive_end(Error error) override;
  void on_send_failed(Error error) override { fail(error); }
  void on_sent(std::uint64_t count) override;
  void on_time_out() override;
  void settle() override;
  void on_out_of_memory() noexcept override { fail(Error(Errc::OutOfMemory, "connection")); }
  void on_closing() noexcept override;
  void on_closed() override;

  template <class Callback>
  void call(const Callback& callback) noexcept;
  void log_failure(std::string_view why) noexcept;
  void leave(Error why) noexcept;
  void fail(Error why) noexcept;
  void tell_disconnect() noexcept;
  void note_activity(std::uint64_t count) noexcept;
  void restart_idle_timer() noexcept;
  void set_paused(bool is_paused) noexcept;
  [[nodiscard]] bool wants_input() const noexcept;
  void show_input();
  void show_end();
  void keep_rest();
  void account() noexcept;

  TcpClients& shared_;
  net::StreamPump pump_;
  std::unique_ptr<detail::TcpSession> session_;
  std::string kept_;           // input that was not consumed
  std::string_view arriving_;  // input in the loop's buffer, while nothing is kept
  std::size_t consumed_ = 0;   // from the front of kept_
  std::uint64_t received_bytes_ = 0;
  std::uint64_t sent_bytes_ = 0;
  std::uint64_t active_bytes_ = 0;  // since then
  loop::Instant active_at_{};       // when enough bytes had passed
  std::size_t accounted_bytes_ = 0;
  Error why_ = Errc::None;  // for on_disconnect
  bool is_calling_ = false;
  bool is_paused_ = false;
  bool is_hurried_ = false;   // the server stops, and nothing was queued
  bool has_unseen_ = false;   // input that came during a pause
  bool has_end_ = false;      // of the input, which on_end is not told yet
  bool has_sent_ = false;     // and on_writable is due once that is taken
  bool has_dropped_ = false;  // output beyond max_output_bytes
  bool is_told_ = false;      // on_disconnect was called
};

}  // namespace skua::sockets
