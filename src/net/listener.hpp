// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "loop/loop.hpp"
#include "net/socket.hpp"
#include "skua/bytes.hpp"

namespace skua::net {

/// The receiver of a listener's connections.
class ListenerSink {
 public:
  virtual void on_accept(Socket connection) = 0;
  /// Descriptors or memory ran out. Accepting pauses and is retried automatically.
  virtual void on_accept_paused(Error /*error*/) {}
  /// The listener is closed. This is the last call; it may destroy the listener.
  virtual void on_listener_closed() = 0;

 protected:
  ~ListenerSink() = default;
};

/// Accepts connections on a loop, and survives running out of descriptors.
///
/// If no descriptor is left, it uses a reserved one to shed one waiting connection, then pauses
/// for 100 ms, doubling up to 1 s while the shortage lasts.
/// Lifetime: must live until its sink's on_listener_closed(), which follows close().
class Listener final : private loop::Handle {
 public:
  Listener(loop::Loop& loop, Socket socket, ListenerSink& sink);
  ~Listener();

  /// Starts accepting, also after pause() or a shortage. Does nothing if it is already accepting.
  void resume();
  /// Stops accepting until resume(). New connections wait in the system's backlog.
  void pause();
  void close();
  /// Accepts connections that are already established, for a moment, and then closes.
  void drain();

  using loop::Handle::descriptor;
  [[nodiscard]] bool is_accepting() const noexcept { return is_accepting_; }
  /// The listening address, with the port that the system chose for port 0.
  [[nodiscard]] Address address() const noexcept;

 private:
  void on_accept(int descriptor) override;
  void on_accept_failed(Error error) override;
  void on_closed() override;
  void shed_one() noexcept;
  void empty_queue(int descriptor);
  void finish_drain();
  void retry();

  loop::Loop& loop_;
  ListenerSink& sink_;
  Socket reserve_;
  loop::Timer retry_timer_;
  Duration retry_delay_;
  bool is_accepting_ = false;
  bool is_draining_ = false;
};

/// Returns the address that a server's options name: `host` is a numeric address, `localhost`, or a
/// Unix socket such as `unix:/run/x`.
/// Ends with: InvalidAddress.
Result<Address> listen_address(std::string_view host, std::uint16_t port) noexcept;

/// Creates `count` listeners that share an IP address, between which the system balances. The port
/// must be free, unless it is shared with other processes.
/// Ends with: AddressInUse, AddressUnavailable, PermissionDenied, ...
Result<std::vector<Socket>> create_listeners(const Address& address, std::size_t count,
                                             bool is_shared = false);

}  // namespace skua::net
