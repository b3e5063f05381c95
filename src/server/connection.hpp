// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "base/intrusive_list.hpp"
#include "loop/loop.hpp"
#include "net/output_queue.hpp"
#include "net/stream.hpp"
#include "server/h1_session.hpp"
#include "server/journal.hpp"
#include "server/resources.hpp"

namespace skua::server {

class Connection;

/// Who owns connections; told when one is closed, and to destroy it then.
class ConnectionOwner {
 public:
  virtual void connection_closed(Connection& connection) noexcept = 0;

 protected:
  ~ConnectionOwner() = default;
};

/// One client: joins a stream to the protocol spoken on it, sends what the session writes, and
/// keeps time.
///
/// Lifetime:  from start() until ConnectionOwner::connection_closed.
class Connection final : public base::ListNode, private net::StreamSink, private SessionOwner {
 public:
  Connection(Resources& resources, ConnectionOwner& owner, std::unique_ptr<net::Stream> stream);

  /// Reads and answers from here on.
  void start();
  /// Finishes what is in progress and then closes; at once, but for a short grace, when there is
  /// nothing.
  void drain();
  /// Closes at once, whatever is in progress.
  void close();

 private:
  enum class State : std::uint8_t {
    Open,
    Finishing,  ///< what is in the output is the last
    Lingering,  ///< our side is closed; the peer's bytes are read and dropped, so that it gets the
                ///< last of ours
    Closing,
  };

  void on_established() override;
  void on_receive(std::span<char> bytes) override;
  void on_receive_end(Error error) override;
  void on_sent(std::size_t count) override;
  void on_send_failed(Error error) override;
  void on_closed() override;
  void settle_later() noexcept override { resources_.loop.defer(settle_later_); }
  std::size_t send_now(std::span<const net::Slice> slices) override;
  void replace_session(std::unique_ptr<Session> next) noexcept override;
  Journal* journal() override;

  /// Does what may want memory; where there is none, the connection is closed.
  template <class Work>
  void guarded(Work&& work) noexcept;
  void receive(std::span<char> bytes);
  void receive_end(Error error);
  bool choose_session(std::string_view input);
  void begin_session();
  void refuse_plain_http();
  static void on_deadline(void* self) noexcept;
  static void on_turn_end(void* self) noexcept;
  void settle();
  void flush();
  void note_sent(std::uint64_t count);
  void finish();
  void set_receiving(bool wanted);
  void start_timer(const Standing& now);
  loop::Instant end_of_patience() noexcept;
  bool grants_handshake() noexcept;
  void time_out();

  Resources& resources_;
  ConnectionOwner& owner_;
  std::unique_ptr<net::Stream> stream_;
  net::OutputQueue output_;
  std::unique_ptr<Journal> journal_;  // from the first response on, where a hook is told of them
  H1Session h1_;
  std::unique_ptr<Session> other_;  // where the peer does not speak HTTP/1
  Session* session_ = &h1_;
  loop::Timer timer_;
  loop::Deferred settle_later_;  // at the end of the turn, when every connection has received
  loop::Instant absent_until_ = loop::Instant::max();  ///< of a peer that closed its side
  State state_ = State::Open;
  bool is_receiving_ = false;
  bool is_sending_ = false;            ///< a send is pending
  bool is_write_timed_ = false;        ///< the timer runs since the peer last took something
  bool is_handshake_granted_ = false;  ///< it may go on while the server drains
  bool peer_has_ended_ = false;        ///< the peer closed its side
  bool is_new_ = true;                 ///< what the peer speaks is not known yet
  std::uint8_t preface_bytes_ = 0;     ///< of HTTP/2's, which it has sent meanwhile
};

// Whatever the system or the clock tells a connection comes through here, so that a failed
// allocation ends at the connection that it was for: docs/decisions/0020.
template <class Work>
void Connection::guarded(Work&& work) noexcept {
  try {
    std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    note_lack_of_memory(resources_, "a connection was closed");
    close();
  }
}

}  // namespace skua::server
