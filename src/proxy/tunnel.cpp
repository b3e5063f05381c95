// SPDX-License-Identifier: MIT
// Joins two connections that speak WebSocket. Whichever side is slow stops the other: bytes of the
// client wait in the output of the upstream connection, and those of the server in the output of
// the client's. It sees where frames begin and end, since a drain has to end between two of them.
#include "proxy/tunnel.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "loop/clock.hpp"
#include "net/stream_pump.hpp"
#include "server/websocket/carrier.hpp"
#include "server/websocket/takeovers.hpp"
#include "skua/body_writer.hpp"
#include "ws/frame.hpp"

namespace skua::proxy {
namespace {

constexpr std::uint64_t high_water_bytes = 64 * 1024;  // in either output

// 1001, RFC 6455 §7.4.1
constexpr std::string_view going_away = "\x03\xe9the server is going away";

/// Follows the frames of one direction. RFC 6455 §5.2
class Frames {
 public:
  /// Takes bytes, up to the next end of a frame if `stops_there`, and returns how many.
  std::size_t take(std::string_view bytes, bool stops_there) noexcept {
    std::size_t taken = 0;
    while (taken < bytes.size() && !(stops_there && is_between())) {
      if (left_ != 0) {
        const std::uint64_t some = std::min<std::uint64_t>(left_, bytes.size() - taken);
        left_ -= some;
        taken += static_cast<std::size_t>(some);
      } else {
        take_header(bytes[taken++]);
      }
    }
    return taken;
  }
  [[nodiscard]] bool is_between() const noexcept { return left_ == 0 && header_bytes_ == 0; }
  /// A close frame has begun, after which there is no other one.
  [[nodiscard]] bool has_closed() const noexcept { return has_closed_; }

 private:
  void take_header(char byte) noexcept {
    header_[header_bytes_++] = static_cast<unsigned char>(byte);
    if (header_bytes_ < 2) return;
    const unsigned length = header_[1] & 0x7FU;
    const unsigned length_bytes = length == 127 ? 8 : length == 126 ? 2 : 0;
    const unsigned key_bytes = (header_[1] & 0x80U) != 0 ? 4 : 0;
    if (header_bytes_ < 2 + length_bytes + key_bytes) return;
    left_ = length_bytes == 0 ? length : 0;
    for (unsigned i = 0; i < length_bytes; ++i) left_ = left_ << 8U | header_[2 + i];
    if ((header_[0] & 0x0FU) == static_cast<unsigned>(ws::Opcode::Close)) has_closed_ = true;
    header_bytes_ = 0;
  }

  std::uint64_t left_ = 0;  // of the payload
  std::array<unsigned char, ws::longest_header_bytes> header_{};
  std::uint8_t header_bytes_ = 0;  // that have arrived, of an incomplete one
  bool has_closed_ = false;
};

/// One direction of a tunnel.
class Direction {
 public:
  /// Returns the bytes that are passed on: none once it has ended.
  std::string_view take(std::string_view bytes) noexcept {
    return has_ended_ ? std::string_view() : bytes.substr(0, frames_.take(bytes, is_leaving_));
  }
  /// A close frame is to be sent as soon as no other frame is in the way.
  void leave() noexcept { is_leaving_ = true; }
  /// Returns true once, if the close frame is to be sent now.
  bool ends_now() noexcept {
    if (!is_leaving_ || has_ended_ || !frames_.is_between()) return false;
    has_ended_ = true;
    return !frames_.has_closed();
  }

 private:
  Frames frames_;
  bool is_leaving_ = false;
  bool has_ended_ = false;
};

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
  bool outlasts_drains = false;
};

/// The user of a carrier, like server::SocketRun, which explains the functions; but no socket gives
/// it messages.
class Tunnel final : private ClientSide {
 public:
  Tunnel(server::Carrier& carrier, const detail::Upgrade& upgrade)
      : carrier_(carrier),
        idle_(static_cast<const TunnelUpgrade&>(upgrade).idle),
        outlasts_drains_(static_cast<const TunnelUpgrade&>(upgrade).outlasts_drains),
        progress_(carrier_.now()),
        server_(std::exchange(static_cast<const TunnelUpgrade&>(upgrade).upstream, nullptr)) {}
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;
  ~Tunnel() { cancel(); }

  void start(Request&, const detail::Upgrade&) { server_->start(static_cast<ClientSide&>(*this)); }
  void receive(std::span<char> input) {
    progress_ = carrier_.now();
    if (is_over_) return;
    server_->send(to_server_.take({input.data(), input.size()}));
    say_good_bye();
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
    if (has_left_) return later(progress_, carrier_.resources().options.timeouts.linger);
    return std::min(leaves_at_, later(progress_, idle_));
  }
  void time_out() { has_left_ || carrier_.now() < leaves_at_ ? cancel() : leave(); }
  void drain() {
    if (outlasts_drains_ || is_over_ || leaves_at_ != loop::Instant::max()) return;
    leaves_at_ = later(carrier_.now(), server::next_drain_delay(carrier_.resources()));
    if (leaves_at_ <= carrier_.now()) leave();
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
  /// Both sides get a close frame; then their own ends are awaited, and the rest is dropped.
  void leave() {
    has_left_ = true;
    progress_ = carrier_.now();
    to_client_.leave();
    to_server_.leave();
    say_good_bye();
  }
  void say_good_bye() {
    ws::FrameHeader header{.payload_bytes = going_away.size(), .opcode = ws::Opcode::Close};
    if (to_client_.ends_now()) {
      const std::string frame = ws::make_frame(header, going_away);
      carrier_.write(std::string_view(frame));
      carrier_.settle_later();
    }
    if (!to_server_.ends_now()) return;
    header.is_masked = true;
    header.key = carrier_.codecs().next_mask();
    server_->send(ws::make_frame(header, going_away));
  }
  bool take(std::string_view bytes) override {
    progress_ = carrier_.now();
    carrier_.write(to_client_.take(bytes));
    say_good_bye();
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
  const bool outlasts_drains_;
  loop::Instant progress_;                          // when the last byte went either way
  loop::Instant leaves_at_ = loop::Instant::max();  // in a drain
  Direction to_client_;
  Direction to_server_;
  const std::shared_ptr<ServerSide> server_;
  bool has_left_ = false;
  bool is_over_ = false;
};

constexpr server::Takeovers<Tunnel> tunnels;

}  // namespace

Body tunnel_to(client::SwitchedStream upstream, std::shared_ptr<client::Core> core, Duration idle,
               bool outlasts_drains) {
  auto upgrade = std::make_shared<TunnelUpgrade>();
  upgrade->upstream = ServerSide::create(std::move(upstream), std::move(core));
  upgrade->server = &tunnels;
  upgrade->idle = idle;
  upgrade->outlasts_drains = outlasts_drains;
  auto stream = std::make_shared<BodyStream>();
  stream->is_endless = true;
  stream->upgrade = std::move(upgrade);
  return Body(std::shared_ptr<const BodyStream>(std::move(stream)));
}

}  // namespace skua::proxy
