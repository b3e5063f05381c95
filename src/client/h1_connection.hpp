// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "client/pool.hpp"
#include "h1/framing.hpp"
#include "h1/response_reader.hpp"
#include "loop/loop.hpp"
#include "net/output_queue.hpp"
#include "net/stream.hpp"
#include "skua/body.hpp"
#include "skua/body_writer.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua::client {

/// What goes out on a connection: a head as it stands on the wire, and content in the framing that
/// the head tells.
struct H1Request {
  std::string head{};
  Body content{};
  h1::BodyKind framing = h1::BodyKind::None;
  h1::ResponseTo expected{};
  bool expects_continue = false;  ///< the content waits for 100, or continue_after()
};

/// A client's connection that speaks HTTP/1.1: one request after the other, each by whoever has its
/// lease.
///
/// RFC:       9112
class H1Connection final : public PooledConnection,
                           private net::StreamSink,
                           private skua::detail::BodySink {
 public:
  H1Connection(loop::Loop& loop, Pool& pool, net::OutputQueue::Blocks& blocks,
               std::unique_ptr<net::Stream> stream, const h1::ResponseLimits& limits);
  ~H1Connection() override;

  // For the pool.

  [[nodiscard]] std::size_t room() const noexcept override {
    return state_ == State::Idle ? 1 : 0;
  }
  void close() override;

  // For who has the lease.

  /// Begins a request; what it refers to is kept. Once per lease, on a connection that is idle.
  void send(H1Request request);
  /// The next event of the response; Data is valid until the next call.
  ///
  /// Waits for: bytes of the server, or progress of what is sent: at most `limit` without either.
  /// Ends with: TimedOut; what broke the connection, or the rules; Closed where it ended before the
  ///            response did. What the producer of the content has thrown comes out of here.
  Task<Result<h1::ResponseReader::Step>> next(Duration limit);
  /// Sends the content although nobody has asked for it.
  void continue_now();
  [[nodiscard]] const h1::ResponseReader& reader() const noexcept { return reader_; }
  /// Whether nothing of the content is left to be sent.
  [[nodiscard]] bool is_all_sent() const noexcept {
    return is_content_over_ && output_.empty() && !is_sending_;
  }
  [[nodiscard]] net::Stream& stream() noexcept { return *stream_; }

 private:
  enum class State : std::uint8_t { Idle, Busy, Over, Closing };

  void on_receive(std::span<char> bytes) override;
  void on_receive_end(Error error) override;
  void on_sent(std::size_t count) override;
  void on_send_failed(Error error) override;
  void on_closed() override;

  void write(Body&& piece) override;
  void add_trailer(std::string_view name, std::string_view value) override;
  [[nodiscard]] bool has_room() const noexcept override;
  void wait(skua::detail::Waiter& waiter, std::coroutine_handle<> writer) override;

  void begin_content();
  void end_content();
  void flush();
  void set_receiving(bool wanted);
  void settle();
  Result<h1::ResponseReader::Step> conclude(h1::ResponseReader::Step step);

  loop::Loop& loop_;
  Pool& pool_;
  std::unique_ptr<net::Stream> stream_;
  net::OutputQueue output_;
  h1::ResponseReader reader_;
  std::string looked_at_;      // what Data refers to, and what follows it
  std::size_t used_bytes_ = 0;  // of that
  std::string received_;       // since
  std::optional<Error> end_{};      // of what the server sends
  std::optional<Error> send_failure_{};
  loop::Instant progress_{};        // when bytes last went either way
  skua::detail::WaiterList changed_;
  // Of the content that is sent:
  Body content_;
  std::optional<BodyWriter> writer_{};
  std::optional<std::uint64_t> left_bytes_{};  // of a length that was told
  std::string trailers_;
  std::exception_ptr exception_{};
  skua::detail::WaiterList writers_;
  loop::Deferred settle_later_;
  h1::BodyKind framing_ = h1::BodyKind::None;
  State state_ = State::Idle;
  bool is_content_over_ = true;
  bool is_receiving_ = false;
  bool is_sending_ = false;
  std::optional<Task<>> producer_{};  // goes before what it writes to
};

}  // namespace skua::client
