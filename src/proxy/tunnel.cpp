// SPDX-License-Identifier: MIT
// Joins two connections. Whichever side is slow stops the other: bytes of the client wait in the
// output of the upstream connection, and those of the server in the output of the client's.
#include "proxy/tunnel.hpp"

#include <optional>
#include <string>
#include <utility>

#include "loop/clock.hpp"
#include "net/stream_pump.hpp"
#include "server/websocket/carrier.hpp"
#include "server/websocket/takeovers.hpp"
#include "skua/body_writer.hpp"

namespace skua::proxy {
namespace {

constexpr std::uint64_t high_water_bytes = 64 * 1024;  // in either output

/// The side of the client, as the upstream side sees it.
class ClientSide {
 public:
  /// Returns whether there is room for more.
  virtual bool take(std::string_view bytes) = 0;
  /// Called when bytes for the server were sent.
  virtual void server_drained() noexcept = 0;
  virtual void server_ended() noexcept = 0;

 protected:
  ~ClientSide() = default;
};

/// The upstream connection of a tunnel.
///
/// It listens from the switch on, before the tunnel starts: a stream that was told to stop may
/// still deliver bytes (Backend::stop_receive).
///
/// Lifetime:  it owns itself until its stream is closed, as the tunnel may end first.
class ServerSide final : private net::StreamPumpUser {
 public:
  ServerSide(client::SwitchedStream upstream, std::shared_ptr<client::Core> core)
      : core_(std::move(core)),
        pump_(static_cast<net::StreamPumpUser&>(*this), core_->loop, core_->blocks),
        early_(std::move(upstream.received)),
        early_end_(upstream.end) {
    pump_.take(std::move(upstream.stream));
  }

  static std::shared_ptr<ServerSide> create(client::SwitchedStream upstream,
                                            std::shared_ptr<client::Core> core) {
    auto created = std::make_shared<ServerSide>(std::move(upstream), std::move(core));
    created->self_ = created;
    return created;
  }

  void start(ClientSide& client) {
    if (!pump_.is_open()) return client.server_ended();
    client_ = &client;
    pump_.settle_later();
  }
  void send(std::string_view bytes) {
    if (!pump_.is_open()) return;
    pump_.output().append(bytes);
    pump_.settle_later();
  }
  /// Nothing more is sent.
  void end_output() {
    has_output_ended_ = true;
    pump_.settle_later();
  }
  [[nodiscard]] bool has_room() const noexcept {
    return pump_.output().pressure_bytes() < high_water_bytes;
  }
  void receive() {
    if (!early_ && pump_.is_open()) pump_.set_receiving(true);
  }
  /// The tunnel ends.
  void close() noexcept {
    client_ = nullptr;
    pump_.close();
  }

 private:
  void on_receive(std::span<char> bytes) override {
    if (early_) {
      early_->append(bytes.data(), bytes.size());
    } else {
      pass_on({bytes.data(), bytes.size()});
    }
  }
  void on_receive_end(Error error) override {
    if (!early_) return end();
    early_end_ = error;
  }
  void on_send_failed(Error) override { end(); }
  void on_sent(std::uint64_t) override {
    if (client_ != nullptr) client_->server_drained();
  }
  void on_out_of_memory() noexcept override { end(); }
  void on_closed() override { const auto self = std::move(self_); }

  void settle() override {
    if (client_ == nullptr) return;  // not started
    if (std::optional<std::string> early = std::exchange(early_, std::nullopt)) {
      pump_.set_receiving(true);
      if (!early->empty()) pass_on(*early);
      if (early_end_) end();
    }
    if (!pump_.is_open()) return;
    pump_.flush();
    if (!has_output_ended_ || is_shut_ || !pump_.has_sent_all()) return;
    is_shut_ = true;
    pump_.stream().shutdown_write();
  }

  void pass_on(std::string_view bytes) {
    if (client_ != nullptr && !client_->take(bytes)) pump_.set_receiving(false);
  }
  void end() noexcept {
    if (ClientSide* const client = std::exchange(client_, nullptr)) client->server_ended();
    pump_.close();
  }

  ClientSide* client_ = nullptr;  // null before the tunnel starts and once it has ended
  const std::shared_ptr<client::Core> core_;
  net::StreamPump pump_;
  std::optional<std::string> early_;  // received before the start; nullopt once passed on
  std::optional<Error> early_end_;
  std::shared_ptr<ServerSide> self_;
  bool has_output_ended_ = false;
  bool is_shut_ = false;
};

/// The data in a response that opens a tunnel.
struct TunnelUpgrade final : detail::Upgrade {
  TunnelUpgrade() = default;
  TunnelUpgrade(const TunnelUpgrade&) = delete;
  TunnelUpgrade& operator=(const TunnelUpgrade&) = delete;
  ~TunnelUpgrade() {
    if (upstream != nullptr) upstream->close();
  }

  mutable std::shared_ptr<ServerSide> upstream{};  // taken when the tunnel opens
  Duration idle{};
};

/// The user of a carrier, like server::SocketRun, which explains the functions; but no socket gives
/// it messages.
class Tunnel final : private ClientSide {
 public:
  Tunnel(server::Carrier& carrier, const detail::Upgrade& upgrade)
      : carrier_(carrier),
        idle_(static_cast<const TunnelUpgrade&>(upgrade).idle),
        progress_(carrier_.now()),
        server_(std::exchange(static_cast<const TunnelUpgrade&>(upgrade).upstream, nullptr)) {}
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;
  ~Tunnel() { cancel(); }

  void start(Request&, const detail::Upgrade&) { server_->start(static_cast<ClientSide&>(*this)); }
  void receive(std::span<char> input) {
    progress_ = carrier_.now();
    if (!is_over_) server_->send({input.data(), input.size()});
  }
  void receive_end() {
    if (!is_over_) server_->end_output();
  }
  [[nodiscard]] bool wants_input() const noexcept { return is_over_ || server_->has_room(); }
  void output_drained() {
    if (!is_over_ && carrier_.pending_bytes() < high_water_bytes) server_->receive();
  }

  [[nodiscard]] bool can_resume() const noexcept { return false; }
  void resume() {}
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }
  [[nodiscard]] bool is_timed() const noexcept { return true; }
  [[nodiscard]] std::optional<loop::Instant> deadline() const noexcept {
    return later(progress_, idle_);
  }
  void time_out() { cancel(); }
  // No protocol is known here in which a peer could be told.
  void drain() {
    cancel();
    carrier_.settle_later();
  }
  void cancel() noexcept {
    if (std::exchange(is_over_, true)) return;
    server_->close();
  }
  void fail(const std::exception_ptr&) noexcept { cancel(); }
  void on_message(const Message&) noexcept {}
  void on_drained() noexcept {}

 private:
  bool take(std::string_view bytes) override {
    progress_ = carrier_.now();
    carrier_.write(bytes);
    carrier_.settle_later();
    return carrier_.pending_bytes() < high_water_bytes;
  }
  void server_drained() noexcept override {
    progress_ = carrier_.now();
    carrier_.settle_later();
  }
  void server_ended() noexcept override {
    is_over_ = true;
    carrier_.settle_later();
  }

  server::Carrier& carrier_;
  const Duration idle_;
  loop::Instant progress_;  // when the last byte went either way
  const std::shared_ptr<ServerSide> server_;
  bool is_over_ = false;
};

constexpr server::Takeovers<Tunnel> tunnels;

}  // namespace

Body tunnel_to(client::SwitchedStream upstream, std::shared_ptr<client::Core> core, Duration idle) {
  auto upgrade = std::make_shared<TunnelUpgrade>();
  upgrade->upstream = ServerSide::create(std::move(upstream), std::move(core));
  upgrade->server = &tunnels;
  upgrade->idle = idle;
  auto stream = std::make_shared<BodyStream>();
  stream->is_endless = true;
  stream->upgrade = std::move(upgrade);
  return Body(std::shared_ptr<const BodyStream>(std::move(stream)));
}

}  // namespace skua::proxy
