// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "skua/address.hpp"
#include "skua/backend.hpp"
#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/ip_filter.hpp"
#include "skua/log_level.hpp"
#include "skua/mistakes.hpp"
#include "skua/socket.hpp"
#include "skua/tls.hpp"

namespace skua {

/// Whether a TcpServer keeps a client after a callback.
enum class Decision : std::uint8_t {
  Keep,
  Disconnect,  ///< once everything is sent
};

/// Why on_idle was called: fewer than TcpServerOptions::idle_bytes have passed for some time.
struct TcpIdle {
  Duration time{};          ///< TcpServerOptions::idle
  std::uint64_t bytes = 0;  ///< received and sent in that time
};

/// A client of a TcpServer. Belongs to one thread, and lives until its state is destroyed.
class TcpConnection {
 public:
  TcpConnection() = default;
  TcpConnection(const TcpConnection&) = delete;
  TcpConnection& operator=(const TcpConnection&) = delete;

  /// Returns everything that has arrived and was not consumed.
  ///
  /// Lifetime: until consume(), or the end of the callback.
  [[nodiscard]] virtual std::string_view input() const noexcept SKUA_LIFETIMEBOUND = 0;
  /// Removes bytes from the front of the input; at most all of them. The rest is kept until more
  /// arrives.
  virtual void consume(std::size_t count) noexcept = 0;
  void consume_all() noexcept { consume(input().size()); }

  /// Queues a copy of the bytes; everything queued in a turn is sent at its end. Any callback of
  /// the same thread may send to any client.
  virtual void send(std::string_view bytes) = 0;
  /// Returns the number of bytes that were queued and not yet taken by the system.
  [[nodiscard]] virtual std::uint64_t unsent_bytes() const noexcept = 0;
  /// Stops and resumes receiving, for instance while an answer is being computed.
  virtual void pause() noexcept = 0;
  virtual void resume() noexcept = 0;

  /// Disconnects once everything is sent; no callback but on_disconnect follows.
  virtual void disconnect() noexcept = 0;
  /// Disconnects at once, and drops what was not sent.
  virtual void abort() noexcept = 0;

  [[nodiscard]] virtual Address peer_address() const noexcept = 0;
  [[nodiscard]] virtual Address local_address() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t received_bytes() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t sent_bytes() const noexcept = 0;
  /// Returns the protocol that TLS negotiated (ALPN), or an empty view.
  [[nodiscard]] virtual std::string_view protocol() const noexcept SKUA_LIFETIMEBOUND = 0;

 protected:
  ~TcpConnection() = default;
};

/// Options of a TcpServer; the defaults are safe for the open Internet.
struct TcpServerOptions {
  std::string host = "0.0.0.0";  ///< a numeric address, `localhost`, or `unix:/path`
  std::uint16_t port = 0;        ///< 0: any free port, see TcpServer::address()
  unsigned threads = 1;          ///< each has its own clients; 0: one per core
  BackendChoice backend = BackendChoice::Auto;
  bool reuse_port = false;       ///< lets other processes listen on the port, too
  std::size_t clients = 65'536;  ///< connected at once; others wait in the system's backlog
  /// Which peers may connect, by rules that may change meanwhile; null: all. Others are
  /// disconnected right after accept. Unix sockets are not affected.
  std::shared_ptr<const IpFilter> ip_filter{};
  /// A rule of your own, asked after `ip_filter`, on a thread of the server; empty: all may
  /// connect. If it returns false or throws, the peer is disconnected.
  std::function<bool(const Address& peer)> accepts{};
  Duration idle = 60s;                    ///< then on_idle is called; Duration::max(): never
  std::uint64_t idle_bytes = 1;           ///< a client is idle if fewer bytes pass in that time
  std::size_t input_bytes = 1_MiB;        ///< input that was not consumed: disconnected
  std::size_t output_bytes = 1_MiB;       ///< output that the client does not take: reading stops
  std::size_t max_output_bytes = 64_MiB;  ///< and beyond this: disconnected
  std::size_t server_bytes = 1_GiB;  ///< input and output kept for all clients: who needs more is
                                     ///< disconnected
  Duration linger = 2s;              ///< the client's last bytes, after we have closed our side;
                                     ///< at most 50 ms if the server stops and nothing is queued
  Duration shutdown = 5s;            ///< for sending what is queued when the server stops
  TlsOptions tls{};
  std::vector<std::string> protocols{};                   ///< of TLS (ALPN), in order of preference
  std::function<void(LogLevel, std::string_view)> log{};  ///< events that no client can be told of
};

namespace detail {

/// The state of a client, whatever its type.
class TcpSession {
 public:
  explicit TcpSession(bool is_writer) noexcept : hears_writable(is_writer) {}
  TcpSession(const TcpSession&) = delete;
  TcpSession& operator=(const TcpSession&) = delete;
  virtual ~TcpSession() = default;
  virtual Decision on_readable(TcpConnection& client) = 0;
  virtual Decision on_writable(TcpConnection& client) = 0;
  virtual Decision on_end(TcpConnection& client) = 0;
  virtual Decision on_idle(TcpConnection& client, const TcpIdle& idle) = 0;
  virtual void on_disconnect(TcpConnection& client, Error why) = 0;

  const bool hears_writable;  ///< otherwise on_writable() need not be called
};

using MakeTcpSession = std::function<std::unique_ptr<TcpSession>(TcpConnection&)>;

/// Calls a callback, which returns a decision, or nothing to keep the client.
template <class Call>
Decision decision_of(Call&& call) {
  if constexpr (std::is_void_v<std::invoke_result_t<Call>>) {
    std::forward<Call>(call)();
    return Decision::Keep;
  } else {
    return std::forward<Call>(call)();
  }
}

template <class State>
class TcpSessionOf final : public TcpSession {
 public:
  template <class Make>
  TcpSessionOf(const Make& make, TcpConnection& client)
      : TcpSession(requires(State& state) { state.on_writable(client); }), state_(make(client)) {}

  Decision on_readable(TcpConnection& client) override {
    static_assert(
        requires(State& state) { state.on_readable(client); },
        "the state of a TcpServer needs a member function "
        "`skua::Decision on_readable(skua::TcpConnection& client)`");
    return decision_of([&] { return state_.on_readable(client); });
  }
  Decision on_writable(TcpConnection& client) override {
    if constexpr (requires { state_.on_writable(client); }) {
      return decision_of([&] { return state_.on_writable(client); });
    }
    return Decision::Keep;
  }
  Decision on_end(TcpConnection& client) override {
    if constexpr (requires { state_.on_end(client); }) {
      return decision_of([&] { return state_.on_end(client); });
    }
    return Decision::Disconnect;
  }
  Decision on_idle(TcpConnection& client, const TcpIdle& idle) override {
    if constexpr (requires { state_.on_idle(client, idle); }) {
      return decision_of([&] { return state_.on_idle(client, idle); });
    }
    return Decision::Disconnect;
  }
  void on_disconnect(TcpConnection& client, Error why) override {
    if constexpr (requires { state_.on_disconnect(client, why); }) {
      state_.on_disconnect(client, why);
    }
  }

 private:
  State state_;
};

/// Makes a state from its connection if it has such a constructor, otherwise without arguments.
template <class State>
State make_tcp_state(TcpConnection& client) {
  if constexpr (std::constructible_from<State, TcpConnection&>) {
    return State(client);
  } else {
    static_assert(std::default_initializable<State>,
                  "the state of a TcpServer needs a constructor that takes nothing or a "
                  "skua::TcpConnection&, or pass a function that makes it to the server");
    return State();
  }
}

class TcpServerCore;

}  // namespace detail

/// The part of a TcpServer that does not depend on its state.
class SKUA_API TcpServerBase {
 public:
  TcpServerBase(const TcpServerBase&) = delete;
  TcpServerBase& operator=(const TcpServerBase&) = delete;

  /// Listens, so that address() is known; run() and poll() do so otherwise.
  ///
  /// Ends with: AddressInUse, AddressUnavailable, PermissionDenied, InvalidAddress, Unsupported
  ///            (back end, TLS), TlsConfiguration, ...
  Result<void, Problem> listen();
  /// Takes over a socket that listens already, instead of TcpServerOptions::host: one that another
  /// process opened.
  Result<void, Problem> listen(StreamSocket socket);
  /// Returns the address, with the port that the system chose.
  [[nodiscard]] const Address& address() const noexcept;

  /// Serves until request_stop(), on this thread and TcpServerOptions::threads - 1 others. Once.
  ///
  /// Ends with: the errors of listen(); AlreadyStarted; SystemFailure if a thread cannot be
  ///            started.
  Result<void, Problem> run();
  /// Like run(), but SIGINT and SIGTERM stop the server too. Calls `on_ready` once they do, and the
  /// server listens: then its address can be announced.
  Result<void, Problem> run_until_signal(const std::function<void()>& on_ready = {});
  /// Serves for one turn, which waits at most `max_wait`, on this thread alone. Returns whether the
  /// server still runs.
  ///
  /// Ends with: the errors of listen(); Unsupported with several threads.
  Result<bool, Problem> poll(Duration max_wait = Duration::zero());
  /// Stops accepting, sends what is queued, and disconnects all clients; then run() returns. Any
  /// thread, and signal handlers.
  void request_stop() noexcept;

  /// Returns the number of clients that are connected.
  [[nodiscard]] std::size_t client_count() const noexcept;

 protected:
  TcpServerBase(TcpServerOptions options, detail::MakeTcpSession make);
  ~TcpServerBase();

 private:
  std::unique_ptr<detail::TcpServerCore> core_;
};

/// A server for a protocol of your own. Each client has a State, which is made when the client is
/// accepted and destroyed when it is gone.
///
/// ```cpp
/// struct Echo {
///   void on_readable(skua::TcpConnection& client) {
///     client.send(client.input());
///     client.consume_all();
///   }
/// };
/// skua::TcpServer<Echo> server({.port = 7});
/// server.run_until_signal().value();
/// ```
/// The member functions of State, all but the first optional, return a Decision, or nothing to keep
/// the client:
///
/// | member of State | called when |
/// |---|---|
/// | `on_readable(client)` | bytes have arrived: see input() and consume() |
/// | `on_writable(client)` | everything that was sent is taken by the system: send more |
/// | `on_end(client)` | the client has ended its side; default: Disconnect |
/// | `on_idle(client, idle)` | see TcpServerOptions::idle; default: Disconnect |
/// | `on_disconnect(client, why)` | the client is leaving; nothing more is received |
///
/// `why` is Errc::None if either side ended the connection in order.
///
/// If one of them throws, the exception is logged and the client disconnected.
///
/// A client that reads slowly is not read from while TcpServerOptions::output_bytes are unsent.
template <class State>
class TcpServer final : public TcpServerBase {
 public:
  explicit TcpServer(TcpServerOptions options = {})
      : TcpServer(std::move(options), detail::make_tcp_state<State>) {}
  /// Makes states with `make(client)`, which returns a State. Called on the server's threads.
  template <class Make>
    requires std::is_invocable_r_v<State, const Make&, TcpConnection&>
  TcpServer(TcpServerOptions options, Make make)
      : TcpServerBase(std::move(options), [make = std::move(make)](TcpConnection& client) {
          return std::unique_ptr<detail::TcpSession>(
              std::make_unique<detail::TcpSessionOf<State>>(make, client));
        }) {}
};

}  // namespace skua
