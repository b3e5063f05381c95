// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "loop/loop.hpp"
#include "net/stream.hpp"
#include "tls/engine.hpp"

namespace skua::tls {

class PlainSource;
class ServerContext;

/// TLS over another stream, as server or client.
///
/// The handshake begins with the first start_receive() or send() and ends with on_established();
/// until then the sink hears only of failures. A server creates its engine on the client's first
/// bytes, so a silent client costs little. The peer's close_notify is a clean end (Errc::None); an
/// end without it is TlsTruncated. shutdown_write() sends close_notify, close() does not: truncated
/// data must not look complete. send() does not keep the caller's memory. An idle stream owns no
/// buffers. After the failure PlainHttp data goes out unencrypted, to tell such a client.
///
/// Lifetime:  until its sink's on_closed(), like the inner stream; `loop` outlives it.
class TlsStream final : public net::Stream, private net::StreamSink {
 public:
  /// Creates a client.
  TlsStream(loop::Loop& loop, std::unique_ptr<net::Stream> inner, std::unique_ptr<Engine> engine);
  /// Creates a server with the certificates of `context`.
  TlsStream(loop::Loop& loop, std::unique_ptr<net::Stream> inner,
            std::shared_ptr<const ServerContext> context);

  void start_receive() override;
  void stop_receive() override;
  void receive_briefly(bool wanted) noexcept override { inner_->receive_briefly(wanted); }
  std::size_t send(std::span<const net::Slice> slices) override;
  SKUA_COLD net::Sent try_send(std::span<const net::Slice> slices) override;
  std::size_t send_file(int file, std::uint64_t offset, std::size_t size_bytes) override;
  void shutdown_write() override;
  void close() override;

  [[nodiscard]] bool is_established() const noexcept override {
    return engine_ != nullptr && engine_->is_established();
  }
  [[nodiscard]] bool is_handshaking() const noexcept override {
    return state_ == State::Handshaking && has_heard_;
  }
  [[nodiscard]] bool is_resumed() const noexcept override {
    return engine_ != nullptr && engine_->is_resumed();
  }
  [[nodiscard]] bool is_secure() const noexcept override { return state_ != State::Plain; }
  [[nodiscard]] std::string_view protocol() const noexcept SKUA_LIFETIMEBOUND override {
    return engine_ != nullptr ? engine_->protocol() : std::string_view();
  }
  [[nodiscard]] bool covers(std::string_view host) const override {
    return engine_ != nullptr && engine_->covers(host);
  }
  [[nodiscard]] std::optional<TlsInfo> tls() const override;
  [[nodiscard]] Address peer() const override { return inner_->peer(); }
  [[nodiscard]] Address local() const override { return inner_->local(); }

  /// The engine; null for a server before the client's first bytes.
  [[nodiscard]] const Engine* engine_if_begun() const noexcept { return engine_.get(); }
  /// The result of the handshake or its failure. A server has it from the client's first bytes on.
  [[nodiscard]] const Engine& engine() const noexcept {
    SKUA_ASSERT(engine_ != nullptr);
    return *engine_;
  }

 private:
  enum class State : std::uint8_t {
    Idle,  ///< before the first start_receive() or send()
    Handshaking,
    Open,
    Failed,  ///< the peer gets the alert, then the sink gets the end
    Plain,   ///< the peer speaks HTTP without TLS
    Closing,
  };

  void on_receive(std::span<char> bytes) override;
  void on_receive_end(Error error) override;
  void on_sent(std::size_t count) override;
  void on_send_failed(Error error) override;
  void on_closed() override;

  template <class Work>
  void guarded(Work&& work) noexcept;
  void receive(std::span<char> bytes);
  void begin();
  void continue_handshake();
  void decrypt();
  std::span<const char> use(std::span<const char> bytes);
  void use_unread();
  void fail(Error error);
  void on_later();
  void settle();
  void tell_sent();
  void tell_end();
  void set_inner_receiving();
  std::size_t send_from(PlainSource& source);
  std::size_t encrypt(PlainSource& source);
  bool flush();
  [[nodiscard]] bool ignores_answers() const noexcept;
  void finish_writing();

  loop::Loop& loop_;
  std::unique_ptr<net::Stream> inner_;
  std::shared_ptr<const ServerContext> context_;  // shared: see Engine; null once engine_ is set
  std::unique_ptr<Engine> engine_;
  loop::Deferred later_;
  std::string unread_;             ///< bytes received while the sink wanted none
  std::size_t unread_used_ = 0;    ///< bytes of unread_ already used
  std::string flight_;             ///< records that the inner stream is sending; must not move
  std::size_t flown_bytes_ = 0;    ///< bytes of flight_ already sent
  std::size_t pending_bytes_ = 0;  ///< plain bytes in flight_ that on_sent will report
  std::optional<Error> end_;       ///< the end of receiving, not reported yet
  std::optional<Error> send_failure_;
  std::optional<Error> broken_;  ///< why the inner stream can no longer send
  State state_ = State::Idle;
  bool is_receiving_ = false;  ///< the sink wants bytes
  bool is_inner_receiving_ = false;
  bool has_inner_ended_ = false;
  bool has_heard_ = false;     ///< the peer has sent something
  bool is_peer_done_ = false;  ///< the peer sent close_notify
  bool is_using_ = false;      ///< use() is on the call stack
  bool is_sending_ = false;    ///< the sink waits for on_sent or on_send_failed
  bool is_inner_sending_ = false;
  bool wants_write_end_ = false;  ///< shutdown_write() was called, or TLS failed
  bool is_write_ended_ = false;   ///< the inner stream was told so
};

}  // namespace skua::tls
