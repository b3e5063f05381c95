// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "bench/response_skimmer.hpp"

#include "bench/plan.hpp"
#include "bench/speaker.hpp"

namespace skua::cli::bench {

/// One request, repeated as often as it fits into one write.
class RequestBlock final {
 public:
  explicit RequestBlock(const Plan& plan);

  /// Returns the contiguous bytes after the first `written_bytes`, up to `wanted_bytes`.
  [[nodiscard]] std::string_view piece(std::uint64_t written_bytes,
                                       std::uint64_t wanted_bytes) const noexcept;
  [[nodiscard]] std::size_t request_bytes() const noexcept { return request_bytes_; }

 private:
  std::size_t request_bytes_;
  std::string bytes_;
};

/// Speaks HTTP/1.1: sends prepared bytes, and reads the responses in request order.
///
/// Lifetime:  block and memory outlive it; all speakers of a loop's thread share them.
class H1Speaker final : public Speaker {
 public:
  H1Speaker(AnswerSink& sink, const RequestBlock& block, h1::SkimmerMemory& memory,
            std::size_t depth);

  void begin(net::OutputQueue& output, loop::Instant now) override;
  [[nodiscard]] std::size_t room() const noexcept override { return ring_.size() - count_; }
  void ask(const Asked& asked) override;
  [[nodiscard]] std::size_t under_way() const noexcept override { return count_; }
  [[nodiscard]] loop::Instant oldest() const noexcept override { return ring_[first_].sent; }
  bool write(net::OutputQueue& output) override;
  void sent(std::uint64_t count) override { sent_bytes_ += count; }
  Verdict read(std::string_view input, loop::Instant now) override;
  Verdict end_of_input(loop::Instant now) override;
  [[nodiscard]] std::string problem() const override { return error_.message(); }
  std::optional<Asked> give_up() override;

 private:
  Verdict take_answer(loop::Instant now);
  Asked pop() noexcept;

  AnswerSink& sink_;
  const RequestBlock& block_;
  h1::ResponseSkimmer skimmer_;
  std::vector<Asked> ring_;  // requests in flight, in response order
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::uint64_t wanted_bytes_ = 0;   // of all requests on this connection
  std::uint64_t written_bytes_ = 0;  // to the output
  std::uint64_t sent_bytes_ = 0;     // by the output
  Error error_{Errc::None};
};

}  // namespace skua::cli::bench
