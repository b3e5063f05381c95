// SPDX-License-Identifier: MIT
// In: bytes from a server. Out: the ends of its responses. If a response's head equals the last one
// that was read, its length is already known. Otherwise a ResponseReader reads the whole response,
// and its head and length are remembered for the next.
#include "bench/response_skimmer.hpp"

#include <algorithm>
#include <utility>

namespace skua::h1 {

std::unique_ptr<ResponseReader> SkimmerMemory::take_reader() {
  std::unique_ptr<ResponseReader> reader;
  if (spare_readers_.empty()) {
    reader = std::make_unique<ResponseReader>(limits_);
  } else {
    reader = std::move(spare_readers_.back());
    spare_readers_.pop_back();
  }
  reader->start(request_);
  return reader;
}

// Remembers only responses with a known length that keep the connection open.
void SkimmerMemory::learn(const ResponseReader& reader) {
  const Framing& framing = reader.framing();
  const bool is_plain = framing.body == BodyKind::None || framing.body == BodyKind::Length;
  if (!is_plain || !reader.can_be_reused()) return;
  const http::Head& head = reader.head();
  head_.assign(head.base, head.size_bytes);
  length_bytes_ = framing.body == BodyKind::Length ? framing.length_bytes : 0;
  status_ = head.status;
}

ResponseSkimmer::Event ResponseSkimmer::read(std::string_view& input) {
  if (is_in_content_) return read_content(input);
  if (reader_ == nullptr && recognise(input)) return read_content(input);
  return read_new(input);
}

bool ResponseSkimmer::recognise(std::string_view& input) {
  if (memory_.head_.empty() || !input.starts_with(memory_.head_)) return false;
  input.remove_prefix(memory_.head_.size());
  status_ = memory_.status_;
  left_bytes_ = memory_.length_bytes_;
  is_in_content_ = true;
  return true;
}

ResponseSkimmer::Event ResponseSkimmer::read_content(std::string_view& input) {
  const std::uint64_t used = std::min<std::uint64_t>(left_bytes_, input.size());
  input.remove_prefix(static_cast<std::size_t>(used));
  left_bytes_ -= used;
  if (left_bytes_ != 0) return Event::NeedMore;
  is_in_content_ = false;
  can_be_reused_ = true;
  return Event::Complete;
}

ResponseSkimmer::Event ResponseSkimmer::read_new(std::string_view& input) {
  if (input.empty()) return Event::NeedMore;
  if (reader_ == nullptr) reader_ = memory_.take_reader();
  while (true) {
    const ResponseReader::Step step = reader_->read(input);
    input.remove_prefix(step.consumed_bytes);
    switch (step.event) {
      case ResponseEvent::Interim:
      case ResponseEvent::Head:
      case ResponseEvent::Data: continue;
      case ResponseEvent::NeedMore: return Event::NeedMore;
      case ResponseEvent::Complete: return complete();
      case ResponseEvent::Switched: error_ = Errc::UnexpectedUpgrade; return Event::Failed;
      case ResponseEvent::Failed: error_ = reader_->error(); return Event::Failed;
    }
  }
}

ResponseSkimmer::Event ResponseSkimmer::complete() {
  status_ = reader_->head().status;
  can_be_reused_ = reader_->can_be_reused();
  memory_.learn(*reader_);
  memory_.spare_readers_.push_back(std::move(reader_));
  return Event::Complete;
}

ResponseSkimmer::Event ResponseSkimmer::end_of_input() {
  error_ = is_in_content_ ? Error(Errc::TruncatedBody) : Error(Errc::Closed, "before the response");
  if (reader_ == nullptr) return Event::Failed;
  if (const Result<void> end = reader_->end_of_input(); !end) {
    error_ = end.error();
    return Event::Failed;
  }
  return complete();
}

void ResponseSkimmer::forget() noexcept {
  reader_.reset();
  is_in_content_ = false;
  left_bytes_ = 0;
  can_be_reused_ = true;
  error_ = Errc::None;
}

}  // namespace skua::h1
