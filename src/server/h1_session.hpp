// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "h1/framing.hpp"
#include "loop/clock.hpp"
#include "net/stream.hpp"
#include "server/output_queue.hpp"
#include "server/resources.hpp"
#include "skua/error.hpp"

namespace skua::server {

/// What a connection waits for, which decides how long it waits.
enum class Waiting : std::uint8_t { Request, Head, Body };

/// HTTP/1.x on one connection: bytes in, responses into an output queue. It knows no sockets and
/// sets no timers.
///
/// RFC:       9112
class H1Session {
 public:
  H1Session(Resources& resources, const net::Stream& stream, OutputQueue& output) noexcept;
  H1Session(const H1Session&) = delete;
  H1Session& operator=(const H1Session&) = delete;
  ~H1Session();

  /// Answers every whole request in `input` and keeps what is unfinished.
  void receive(std::string_view input);
  /// Goes on with requests that were kept because the output was full.
  void resume();
  /// The peer sends no more: what is unfinished stays so.
  void receive_end();
  /// The peer let the time for what we wait for pass: says so, and ends.
  void time_out();

  [[nodiscard]] Waiting waiting() const noexcept { return waiting_; }
  /// When the head or the piece of body that we wait for must be here.
  /// Only while waiting() is not Waiting::Request.
  [[nodiscard]] loop::Instant deadline() const noexcept { return inbox_->deadline; }
  /// Requests are kept back: the peer has to take its responses first.
  [[nodiscard]] bool is_stalled() const noexcept { return is_stalled_; }
  /// No request will be read any more: the output is the last.
  [[nodiscard]] bool is_finished() const noexcept { return is_finished_; }

 private:
  struct CanonicalTarget {
    Result<std::string_view> path;
    std::string_view query;
  };

  std::string_view read_head(std::string_view input);
  std::string_view read_body(std::string_view input);
  std::string_view begin(const http::Head& head, std::string_view rest);
  void begin_body(const http::Head& head, const h1::Framing& framing, bool peer_waits);
  void keep_head(std::string_view input);
  void stall(std::string_view input);
  void answer(const http::Head& head, const h1::Framing& framing, std::string_view body,
              bool is_last_received);
  void refuse(Errc code);
  [[nodiscard]] CanonicalTarget canonical(std::string_view path_and_query) const noexcept;
  [[nodiscard]] bool is_too_slow(loop::Instant now) const noexcept;
  [[nodiscard]] bool output_is_full() const noexcept;
  Inbox& inbox();
  void drop_inbox() noexcept;

  Resources& resources_;
  const net::Stream& stream_;
  OutputQueue& output_;
  std::unique_ptr<Inbox> inbox_;  ///< only while a message is unfinished or stalled
  loop::Instant ages_at_;
  Waiting waiting_ = Waiting::Request;
  bool is_stalled_ = false;
  bool is_finished_ = false;
};

}  // namespace skua::server
