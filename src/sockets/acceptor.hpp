// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "loop/loop.hpp"
#include "net/stream.hpp"
#include "skua/error.hpp"
#include "skua/socket.hpp"
#include "tls/reloadable_context.hpp"

namespace skua::sockets {

/// The connections that the threads of a server have open, and how many those may be.
struct ConnectionCount {
  std::atomic<std::size_t> open{0};
  std::size_t cap;  ///< set before the threads accept
};

/// Wraps each new connection, below TLS.
class StreamWrapper {
 public:
  StreamWrapper() = default;
  StreamWrapper(const StreamWrapper&) = delete;
  StreamWrapper& operator=(const StreamWrapper&) = delete;
  virtual ~StreamWrapper() = default;

  /// Ends with: std::bad_alloc.
  virtual void wrap(std::unique_ptr<net::Stream>& stream) = 0;
};

/// The owner of an Acceptor, which serves what that accepts.
class AcceptorOwner {
 public:
  /// Returns the connection if it may be served; otherwise closes it and returns an invalid socket.
  /// Ends with: std::bad_alloc.
  virtual Socket admit(Socket connection) = 0;
  /// Serves a connection, and tells the acceptor that it opened.
  /// Ends with: std::bad_alloc.
  virtual void serve(std::unique_ptr<net::Stream> stream) = 0;
  /// Accepting pauses: because of an error, or at the cap (Errc::None).
  virtual void on_accept_paused(Error why) noexcept = 0;
  /// Memory ran out for a connection, which was closed.
  virtual void on_accept_failed() noexcept = 0;
  /// A listener is closed, or connections of another thread have been served: Acceptor::end() may
  /// return true now.
  virtual void on_accept_progress() noexcept = 0;

 protected:
  ~AcceptorOwner() = default;
};

/// Accepts connections for one thread of a server: pauses while the server is at its cap, and
/// exchanges connections with the other threads where the system does not balance listeners.
///
/// All members but adopt() are for the thread that runs the loop.
/// Lifetime: has to be closed, and end() has to return true, before it is destroyed.
class Acceptor final {
 public:
  /// A drain first empties the system's queue of an own socket, and leaves that of a shared one to
  /// the others.
  enum class Queue : std::uint8_t { Own, Shared };

  /// All arguments must outlive the object. `tls` is null without TLS.
  Acceptor(loop::Loop& loop, tls::ReloadableContext* tls, ConnectionCount& count,
           AcceptorOwner& owner) noexcept;
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;
  ~Acceptor();

  /// Accepts connections from this socket from now on.
  void listen(Socket socket, Queue queue = Queue::Own);
  /// Adds duplicates of the sockets that it listens on; fewer if the system has no descriptors
  /// left.
  void duplicate_listeners(std::vector<Socket>& sockets) const;
  /// Others accept connections from the sockets, too, from now on.
  void share_queues() noexcept;
  /// Makes `wrapper`, which outlives all connections, wrap those to come; null: nothing does.
  void wrap_with(StreamWrapper* wrapper) noexcept { wrapper_ = wrapper; }
  /// Gives each of these its share of the connections. This one, which may be among them, also
  /// serves the shares of those that have ended. They must outlive the loop's last turn.
  void share_with(std::vector<Acceptor*> acceptors) { sharers_ = std::move(acceptors); }
  /// Takes over a connection that another thread accepted; returns false if this one has ended.
  /// Thread-safe.
  bool adopt(Socket& connection);

  /// A connection of this thread opened or closed.
  void opened() noexcept;
  void closed() noexcept;

  /// Stops listening once the connections that are already established have been accepted.
  void drain();
  /// Stops listening, and drops connections that other threads pass on.
  void close() noexcept;
  /// Returns whether nothing is left to come. From then on nothing is adopted.
  bool end() noexcept;

 private:
  class Door;

  void accept(Socket connection) noexcept;
  bool hand_over(Socket& connection);
  void serve_adopted();
  void serve(Socket connection) noexcept;
  void door_closed(Door& door) noexcept;
  void update() noexcept;

  loop::Loop& loop_;
  tls::ReloadableContext* tls_;
  ConnectionCount& count_;
  AcceptorOwner& owner_;
  StreamWrapper* wrapper_ = nullptr;
  std::vector<std::unique_ptr<Door>> doors_;
  std::vector<Acceptor*> sharers_;
  std::size_t next_sharer_ = 0;
  loop::Timer resume_timer_;  // at the cap: another thread's connection may have closed
  bool is_at_cap_ = false;    // and accepts no connections
  bool is_counted_ = false;   // the connection that is being served, by adopt()
  bool is_ending_ = false;
  bool is_closed_ = false;

  std::mutex adopting_;
  std::vector<Socket> adopted_;  // not served yet; guarded by adopting_, like the next
  bool has_ended_ = false;
};

/// Returns the acceptors of all workers, for Acceptor::share_with().
template <class Workers>
std::vector<Acceptor*> acceptors_of(const Workers& workers) {
  std::vector<Acceptor*> all(workers.size());
  auto next = all.begin();
  for (const auto& worker : workers) *next++ = &worker->acceptor();
  return all;
}

}  // namespace skua::sockets
