// SPDX-License-Identifier: MIT
#pragma once

#include "loop/loop.hpp"
#include "net/socket.hpp"
#include "skua/bytes.hpp"

namespace skua::net {

/// Who gets a listener's connections.
class ListenerSink {
 public:
  virtual void on_accept(Socket connection) = 0;
  /// Descriptors or memory ran out: accepting pauses and is tried again by itself.
  virtual void on_accept_paused(Error /*error*/) {}
  /// The listener is closed: the last call; it may destroy the listener.
  virtual void on_listener_closed() = 0;

 protected:
  ~ListenerSink() = default;
};

/// Accepts connections on a loop, and survives running out of descriptors.
///
/// Where the system has no descriptor left, one waiting connection is shed with the help of a
/// reserve, then accepting pauses 100 ms, doubling up to 1 s while it goes on.
/// Lifetime: once made, it lives until its sink's on_listener_closed() (call close() to get there).
class Listener final : private loop::Handle {
 public:
  Listener(loop::Loop& loop, Socket socket, ListenerSink& sink);
  ~Listener();

  /// Accepts, from the start or again after pause() or a shortage. Costs nothing when it does
  /// already.
  void resume();
  /// New connections wait in the system's backlog; nothing but resume() ends this.
  void pause();
  void close();
  /// Takes what has connected already, for a moment, and then closes.
  void drain();

  [[nodiscard]] bool is_accepting() const noexcept { return is_accepting_; }
  /// Where it listens: the port is the one that the system chose for port 0.
  [[nodiscard]] Address address() const noexcept;

 private:
  void on_accept(int descriptor) override;
  void on_accept_failed(Error error) override;
  void on_closed() override;
  void shed_one() noexcept;
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

}  // namespace skua::net
