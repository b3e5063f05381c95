// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "body/outgoing_body.hpp"
#include "body/spare_texts.hpp"
#include "client/wire/exchange.hpp"
#include "h1/response_reader.hpp"
#include "net/close_detached.hpp"
#include "net/stream_pump.hpp"
#include "skua/body.hpp"
#include "skua/error.hpp"
#include "skua/waiter.hpp"

namespace skua::client {

/// Buffers that the connections of a loop share: an idle one holds none, and requests and responses
/// need not allocate and free their own.
class SpareBuffers final {
 public:
  /// Returns an empty string for the head of a request. Valid until the next call.
  [[nodiscard]] std::string& head() noexcept {
    if (head_.capacity() > body::SpareTexts::min_bytes) head_ = std::string();
    head_.clear();
    return head_;
  }

  body::SpareTexts received;

 private:
  std::string head_;
};

/// A client's HTTP/1.1 connection: one exchange at a time.
///
/// Lifetime:  owned by the pool. `owner` keeps alive everything it refers to.
/// RFC:       9112
class H1Connection final : public HttpConnection,
                           private Exchange,
                           private net::StreamPumpUser,
                           private body::Framer {
 public:
  /// `stream` is idle and has no listener.
  H1Connection(std::shared_ptr<void> owner, loop::Loop& loop, Pool& pool,
               net::OutputQueue::Blocks& blocks, SpareBuffers& buffers, net::HeldStream stream,
               const h1::ResponseLimits& limits);
  ~H1Connection() override;

  [[nodiscard]] std::size_t capacity() const noexcept override {
    return is_usable() && state_ != State::Over ? 1 : 0;
  }
  void close() override;
  Result<ExchangePointer> begin(const OutgoingRequest& request) override;
  [[nodiscard]] Tunnels tunnels() const noexcept override { return Tunnels::Upgrade; }

 private:
  enum class State : std::uint8_t {
    Idle,
    Busy,
    Over,  ///< takes no more requests
  };
  /// The state of the request's content.
  enum class Content : std::uint8_t {
    Waiting,  ///< for 100, or continue_now()
    Sending,
    Over,  ///< nothing is left to produce
  };

  Result<Step> read() override;
  [[nodiscard]] skua::detail::WaiterList& changed() noexcept override { return changed_; }
  [[nodiscard]] loop::Instant progress() const noexcept override { return progress_; }
  [[nodiscard]] const http::Head& head() const noexcept override { return reader_.head(); }
  [[nodiscard]] const http::Head& trailers() const noexcept override { return reader_.trailers(); }
  [[nodiscard]] bool has_begun() const noexcept override { return reader_.has_begun(); }
  [[nodiscard]] bool is_unprocessed() const noexcept override { return false; }
  [[nodiscard]] bool is_all_sent() const noexcept override {
    return content_state_ == Content::Over && pump_.has_sent_all();
  }
  [[nodiscard]] bool is_starved() const noexcept override {
    return content_state_ == Content::Sending && pump_.has_sent_all();
  }
  [[nodiscard]] std::uint64_t sent_bytes() const noexcept override {
    return sent_bytes_ < head_bytes_ ? 0 : sent_bytes_ - head_bytes_;
  }
  void continue_now() override;
  void pass_to(skua::detail::ContentTaker* taker) noexcept override { taker_ = taker; }
  void pause() noexcept override;
  Result<SwitchedStream> take_stream(ExchangePointer self, Pool::Lease lease) override;
  void end() noexcept override;

  void on_receive(std::span<char> bytes) override;
  void on_receive_end(Error error) override;
  void on_send_failed(Error error) override;
  void on_sent(std::uint64_t count) override;
  void settle() override;
  void on_out_of_memory() noexcept override { fail(Error(Errc::OutOfMemory, "connection")); }
  void on_closing() noexcept override;
  void on_closed() override;

  void write_content(Body&& piece) override;
  void write_content_text(std::string_view text) override;
  [[nodiscard]] std::uint64_t waiting_bytes() const noexcept override {
    return pump_.output().pressure_bytes();
  }
  void content_ended() noexcept override { pump_.settle_later(); }

  void begin_content();
  void end_content();
  void stop_content() noexcept;
  void flush();
  void set_receiving(bool wanted);
  [[nodiscard]] bool is_usable() const noexcept { return pump_.is_open() && !end_; }
  void fail(Error error) noexcept;
  Result<Step> next_step();
  std::string_view pass_on(std::string_view input);
  Result<Step> end_of_input(Error end);
  void complete() noexcept;

  const std::shared_ptr<void> owner_;
  Pool& pool_;
  SpareBuffers& buffers_;
  net::StreamPump pump_;
  h1::ResponseReader reader_;
  std::string looked_at_;       // backs Data, and holds what follows it
  std::size_t used_bytes_ = 0;  // of looked_at_
  std::string received_;        // since then
  skua::detail::ContentTaker* taker_ = nullptr;
  std::optional<h1::ResponseReader::Step> passed_{};  // what the taker has left to read()
  std::optional<Error> end_{};                        // of the received data
  std::optional<Error> send_failure_{};
  loop::Instant progress_{};
  skua::detail::WaiterList changed_;
  // The request's content:
  Body content_;  // while it waits
  body::OutgoingBody body_;
  std::uint64_t head_bytes_ = 0;
  std::uint64_t sent_bytes_ = 0;  // head included
  std::exception_ptr exception_{};
  State state_ = State::Idle;
  Content content_state_ = Content::Over;
  bool closes_ = false;  // the request has `Connection: close`
  bool is_chunked_ = false;
  bool is_awaited_ = false;  // read() has returned everything
};

}  // namespace skua::client
