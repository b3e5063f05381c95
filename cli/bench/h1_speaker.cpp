// SPDX-License-Identifier: MIT
// All requests are the same bytes, so the output is described by two positions in their endless
// repetition: bytes wanted and bytes written.
#include "bench/h1_speaker.hpp"

#include <algorithm>

namespace skua::cli::bench {
namespace {

// Beyond this size, another write costs next to nothing.
constexpr std::size_t block_bytes = std::size_t{64} * 1024;

}  // namespace

RequestBlock::RequestBlock(const Plan& plan) : request_bytes_(plan.request.size()) {
  const std::size_t most = std::max<std::size_t>(1, block_bytes / request_bytes_);
  for (std::size_t i = std::min(plan.depth, most); i != 0; --i) bytes_ += plan.request;
}

std::string_view RequestBlock::piece(std::uint64_t written_bytes,
                                     std::uint64_t wanted_bytes) const noexcept {
  const auto begin = static_cast<std::size_t>(written_bytes % request_bytes_);
  const std::uint64_t left = wanted_bytes - written_bytes;
  return std::string_view(bytes_).substr(
      begin, static_cast<std::size_t>(std::min<std::uint64_t>(left, bytes_.size() - begin)));
}

H1Speaker::H1Speaker(AnswerSink& sink, const RequestBlock& block, h1::SkimmerMemory& memory,
                     std::size_t depth)
    : sink_(sink), block_(block), skimmer_(memory), ring_(depth) {}

void H1Speaker::begin(net::OutputQueue& /*output*/, loop::Instant /*now*/) {
  skimmer_.forget();
  first_ = count_ = 0;
  wanted_bytes_ = written_bytes_ = sent_bytes_ = 0;
}

void H1Speaker::ask(const Asked& asked) {
  const std::size_t place = first_ + count_;
  ring_[place < ring_.size() ? place : place - ring_.size()] = asked;
  ++count_;
  wanted_bytes_ += block_.request_bytes();
}

bool H1Speaker::write(net::OutputQueue& output) {
  const std::string_view piece = block_.piece(written_bytes_, wanted_bytes_);
  output.append_piece(Body::borrowed(piece));
  written_bytes_ += piece.size();
  return !piece.empty();
}

Asked H1Speaker::pop() noexcept {
  const Asked asked = ring_[first_];
  if (++first_ == ring_.size()) first_ = 0;
  --count_;
  return asked;
}

Verdict H1Speaker::read(std::string_view input, loop::Instant now) {
  while (!input.empty()) {
    if (count_ == 0) {
      error_ = {Errc::MalformedStartLine, "data without a pending request"};
      return Verdict::Broken;
    }
    switch (skimmer_.read(input)) {
      case h1::ResponseSkimmer::Event::NeedMore: return Verdict::GoOn;
      case h1::ResponseSkimmer::Event::Failed: error_ = skimmer_.error(); return Verdict::Broken;
      case h1::ResponseSkimmer::Event::Complete: break;
    }
    if (const Verdict verdict = take_answer(now); verdict != Verdict::GoOn) return verdict;
  }
  return Verdict::GoOn;
}

Verdict H1Speaker::take_answer(loop::Instant now) {
  sink_.on_answer(pop(), skimmer_.status(), now);
  // The response came before its request was sent: the server does not want the rest of it.
  const std::uint64_t unsent = wanted_bytes_ - sent_bytes_;
  const bool is_early = unsent > count_ * block_.request_bytes();
  if (skimmer_.can_be_reused() && !is_early) return Verdict::GoOn;
  // RFC 9112 §9.6: what follows on this connection will not be answered.
  while (count_ != 0) sink_.on_unseen(pop());
  return Verdict::Over;
}

Verdict H1Speaker::end_of_input(loop::Instant now) {
  if (count_ == 0) return Verdict::Over;
  if (skimmer_.end_of_input() == h1::ResponseSkimmer::Event::Complete) return take_answer(now);
  error_ = skimmer_.error();
  return Verdict::Broken;
}

std::optional<Asked> H1Speaker::give_up() {
  if (count_ == 0) return std::nullopt;
  return pop();
}

}  // namespace skua::cli::bench
