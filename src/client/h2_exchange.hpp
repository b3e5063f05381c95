// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/intrusive_list.hpp"
#include "client/exchange.hpp"
#include "h2/connection.hpp"
#include "net/output_queue.hpp"
#include "skua/body_writer.hpp"
#include "skua/field_lines.hpp"
#include "skua/task.hpp"

namespace skua::client {

class H2Connection;

/// One request and its response on an HTTP/2 connection.
///
/// Lifetime:  until end(), which destroys it; the connection outlives it.
/// RFC:       9113 §8
class H2Exchange final : public base::ListNode, public Exchange, private skua::detail::BodySink {
 public:
  /// More content than `most_content_bytes` is BodyTooLong.
  H2Exchange(H2Connection& connection, net::OutputQueue::Blocks& blocks, loop::Instant now,
             std::uint64_t most_content_bytes);
  ~H2Exchange();

  Result<Step> read() override;
  [[nodiscard]] skua::detail::WaiterList& changed() noexcept override { return changed_; }
  [[nodiscard]] loop::Instant progress() const noexcept override { return progress_; }
  [[nodiscard]] const http::Head& head() const noexcept override { return head_->head; }
  [[nodiscard]] const http::Head& trailers() const noexcept override;
  [[nodiscard]] bool has_begun() const noexcept override { return has_begun_; }
  [[nodiscard]] bool is_unprocessed() const noexcept override { return is_unprocessed_; }
  [[nodiscard]] bool is_all_sent() const noexcept override;
  [[nodiscard]] std::uint64_t sent_bytes() const noexcept override { return sent_bytes_; }
  void continue_now() override;
  void end() noexcept override;

  // For the connection.

  /// Its stream is there; the content is sent when it is asked for.
  void start(h2::Stream& stream, Body&& content, bool expects_continue);
  /// Whether its content may begin, or what makes it has ended, since the last advance().
  [[nodiscard]] bool can_advance() const noexcept;
  void advance();
  void take_head(std::unique_ptr<h2::ReceivedHead> head);
  void take_data(std::string_view data);
  void take_end(std::unique_ptr<h2::ReceivedHead> trailers);
  /// Its stream is gone.
  void fail(const h2::StreamFailure& failure);
  [[nodiscard]] h2::BodyRead read_body(std::size_t most_bytes) const noexcept;
  /// Moves the next bytes of the content, as many as read_body told.
  void write_body(net::OutputQueue& output, std::size_t size_bytes);
  /// The connection has sent more: all up to `from` was sent before.
  void note_sent(std::uint64_t from) noexcept;
  /// Whether its content is being made.
  [[nodiscard]] bool is_making() const noexcept { return producer_ || !is_content_over_; }
  /// Nothing can be sent any more; the response may still come.
  void stop_sending();

 private:
  void write(Body&& piece) override;
  void add_trailer(std::string_view name, std::string_view value) override;
  [[nodiscard]] bool has_room() const noexcept override;
  void wait(skua::detail::Waiter& waiter, std::coroutine_handle<> writer) override;

  void begin_content();
  void end_content();
  void fail_content(std::exception_ptr exception);
  void keep(Body&& piece);
  void give_back_data();
  void give_up(Error error);
  void note_progress() noexcept;

  H2Connection& connection_;
  h2::Stream* stream_ = nullptr;  // null once it is released
  const std::uint64_t most_content_bytes_;
  // The response:
  std::deque<std::unique_ptr<h2::ReceivedHead>> heads_;  // that were not told
  std::unique_ptr<h2::ReceivedHead> head_;
  std::unique_ptr<h2::ReceivedHead> trailers_;
  std::string looked_at_;  // what Data refers to
  std::string received_;   // since
  std::uint64_t content_bytes_ = 0;
  std::optional<Error> failure_{};
  loop::Instant progress_;
  skua::detail::WaiterList changed_;
  bool has_begun_ = false;
  bool is_whole_ = false;
  bool is_unprocessed_ = false;
  // The request:
  Body content_;                    // that was not begun; what the producer refers to
  net::OutputQueue queue_;          // content that the session did not ask for yet
  std::uint64_t queued_bytes_ = 0;  // in that
  std::uint64_t sent_bytes_ = 0;
  std::uint64_t ends_at_ = 0;                  // in what the connection has written
  std::optional<std::uint64_t> left_bytes_{};  // of a length that was told
  FieldLines trailers_to_send_;
  std::exception_ptr exception_{};
  skua::detail::WaiterList writers_;
  bool is_content_waiting_ = false;  // for 100, or continue_now()
  bool may_begin_ = false;           // that came
  bool is_content_over_ = true;      // all of it is in the queue, or was
  std::optional<BodyWriter> writer_{};
  std::optional<Task<>> producer_{};  // goes before what it writes to
};

}  // namespace skua::client
