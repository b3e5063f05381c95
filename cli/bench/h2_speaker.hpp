// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "h2/connection.hpp"

#include "bench/plan.hpp"
#include "bench/speaker.hpp"

namespace skua::cli::bench {

/// Speaks HTTP/2: sends requests concurrently, and reads responses in any order.
///
/// Lifetime:  sink and plan outlive it.
class H2Speaker final : public Speaker, private h2::Events {
 public:
  H2Speaker(AnswerSink& sink, const Plan& plan);

  void begin(net::OutputQueue& output, loop::Instant now) override;
  [[nodiscard]] std::size_t room() const noexcept override;
  void ask(const Asked& asked) override;
  [[nodiscard]] std::size_t under_way() const noexcept override { return count_; }
  [[nodiscard]] loop::Instant oldest() const noexcept override;
  bool write(net::OutputQueue& output) override;
  void sent(std::uint64_t /*count*/) override {}
  Verdict read(std::string_view input, loop::Instant now) override;
  Verdict end_of_input(loop::Instant now) override;
  [[nodiscard]] std::string problem() const override { return problem_; }
  std::optional<Asked> give_up() override;

 private:
  /// A slot for a request in flight.
  struct Exchange {
    Asked asked{};
    unsigned status = 0;
    std::size_t content_bytes = 0;  // sent so far
    bool is_under_way = false;
  };

  void on_response(h2::Stream& stream, std::unique_ptr<h2::ReceivedHead> head) override;
  void on_data(h2::Stream& stream, std::string_view data) override;
  void on_end(h2::Stream& stream, std::unique_ptr<h2::ReceivedHead> trailers) override;
  void on_failure(h2::Stream& stream, const h2::StreamFailure& failure) override;
  void on_goaway(h2::ErrorCode reason) override;
  h2::BodyRead read_body(h2::Stream& stream, std::size_t max_bytes) override;
  void append(std::string_view bytes) override { output_->append(bytes); }
  void append_data(h2::Stream& stream, std::string_view head, std::size_t bytes) override;

  static Exchange& exchange_of(h2::Stream& stream) noexcept {
    return *static_cast<Exchange*>(stream.context);
  }
  Asked take(Exchange& exchange) noexcept;

  AnswerSink& sink_;
  const Plan& plan_;
  const h2::RequestLines lines_;
  std::vector<Exchange> exchanges_;
  std::vector<Exchange*> free_;
  std::size_t count_ = 0;
  net::OutputQueue* output_ = nullptr;  // of the current connection
  loop::Instant now_{};                 // when the current input was read
  std::string problem_;
  bool is_ending_ = false;  // the server sent GOAWAY
  h2::Workspace workspace_;
  std::unique_ptr<h2::Connection> connection_;
};

}  // namespace skua::cli::bench
