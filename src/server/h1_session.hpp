// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "h1/framing.hpp"
#include "http/request_parts.hpp"
#include "loop/clock.hpp"
#include "net/stream.hpp"
#include "router/match.hpp"
#include "server/h1_exchange.hpp"
#include "server/output_queue.hpp"
#include "server/resources.hpp"
#include "skua/error.hpp"

namespace skua::server {

/// What a connection waits for, which decides how long it waits.
enum class Waiting : std::uint8_t {
  Request,
  Head,
  Body,
  Handler,  ///< not for the peer
};

/// HTTP/1.x on one connection: bytes in, responses into an output queue. It knows no sockets and
/// sets no timers.
///
/// RFC:       9112
class H1Session {
 public:
  H1Session(Resources& resources, const net::Stream& stream, OutputQueue& output,
            ExchangeOwner& owner) noexcept;
  H1Session(const H1Session&) = delete;
  H1Session& operator=(const H1Session&) = delete;
  ~H1Session();

  /// Answers every whole request in `input` and keeps what is unfinished.
  void receive(std::string_view input);
  /// Whether resume() would get anywhere.
  [[nodiscard]] bool can_resume(bool is_sending) const noexcept {
    return exchange_ == nullptr ? is_stalled_ && !is_sending : can_resume_exchange();
  }
  /// Goes on with a handler that has got further, and with requests that were kept back.
  void resume();
  /// The peer sends no more: what is unfinished stays so. To be told again after each resume().
  void receive_end();
  /// The peer let the time for what we wait for pass: says so, and ends.
  void time_out();
  /// The peer is gone: drops the handler that is at work.
  void cancel() noexcept;
  /// Ends what has no end of its own.
  void drain();
  /// The peer may have taken some of the output.
  void output_drained() noexcept {
    if (exchange_ != nullptr) exchange_->output_drained();
  }

  [[nodiscard]] Waiting waiting() const noexcept {
    if (exchange_ == nullptr) return waiting_;
    return exchange_->waits_for_peer() ? Waiting::Body : Waiting::Handler;
  }
  /// When the head or the piece of body that we wait for must be here.
  /// Only while waiting() is Head or Body.
  [[nodiscard]] loop::Instant deadline() const noexcept {
    return exchange_ != nullptr ? exchange_->deadline() : inbox_->deadline;
  }
  /// Requests are there that wait for something else than more bytes: for the peer to take its
  /// responses, or for a handler.
  [[nodiscard]] bool has_work() const noexcept { return is_stalled_ || exchange_ != nullptr; }
  /// Whether more bytes of the peer are welcome.
  [[nodiscard]] bool wants_input() const noexcept {
    return !is_stalled_ && (exchange_ == nullptr || exchange_->wants_input());
  }
  /// No request will be read any more: the output is the last.
  [[nodiscard]] bool is_finished() const noexcept { return is_finished_ && exchange_ == nullptr; }

 private:
  /// What a request asks for, as the routes see it.
  struct Target {
    Errc error;  ///< where there is one, the rest is not
    std::string_view path;
    std::string_view query;
    router::Match match;
  };

  std::string_view read_head(std::string_view input);
  std::string_view read_body(std::string_view input);
  std::string_view begin(const http::Head& head, std::string_view rest);
  void begin_body(const http::Head& head, const h1::Framing& framing, const Target& target,
                  bool peer_waits);
  std::string_view begin_exchange(const http::Head& head, const h1::Framing& framing,
                                  const Target& target, std::string_view rest);
  void keep_head(std::string_view input);
  void stall(std::string_view input);
  void answer(const http::Head& head, const h1::Framing& framing, const Target& target,
              std::string_view body, bool is_last_received);
  [[nodiscard]] http::RequestParts parts(const http::Head& head, const h1::Framing& framing,
                                         const Target& target) const noexcept;
  void write(const http::Head& head, const h1::Framing& framing, Response&& response,
             bool is_last_received);
  [[nodiscard]] std::optional<std::string> advance_exchange(bool is_last_received);
  void answer_with_stream(const http::Head& head, const h1::Framing& framing, Response&& response,
                          bool is_last_received);
  [[nodiscard]] bool can_resume_exchange() const noexcept;
  [[nodiscard]] bool exchange_has_ended() const noexcept;
  void feed(std::string_view input);
  void write_exchange_response(bool is_last_received);
  void write_with_stream(Response&& response, bool is_last_received);
  void record(const http::Head& head, Status status, std::uint64_t content_bytes,
              Errc error = Errc::None);
  /// Answers what cannot be served, and reads no further; `head` is that of the request, where it
  /// was understood and is neither an exchange's nor that of the body that is read.
  void refuse(Errc code, const http::Head* head = nullptr);
  Target find(const http::Head& head, const h1::Framing& framing) noexcept;
  [[nodiscard]] bool output_is_full() const noexcept;
  Inbox& inbox();
  void drop_inbox() noexcept;

  Resources& resources_;
  const net::Stream& stream_;
  OutputQueue& output_;
  ExchangeOwner& owner_;
  std::unique_ptr<Inbox> inbox_;          ///< only while a message is unfinished or stalled
  std::unique_ptr<H1Exchange> exchange_;  ///< only while a handler or a stream is at work
  loop::Instant ages_at_;
  Waiting waiting_ = Waiting::Request;
  bool is_stalled_ = false;
  bool is_finished_ = false;
};

}  // namespace skua::server
