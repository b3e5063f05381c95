// SPDX-License-Identifier: MIT
// In: bytes from a server. Out: the heads of interim responses, the final head, its content piece
// by piece, and the end. Heads are copied, because callers read them while content still arrives;
// content is never copied.
#include "h1/response_reader.hpp"

#include "skua/status.hpp"

namespace skua::h1 {
namespace {

constexpr bool is_interim(const http::Head& head) noexcept {
  return head.status < 200 && head.status != code(Status::SwitchingProtocols);
}

// RFC 9112 §6.1, RFC 9110 §8.6: 1xx and 204 must not declare a body. They never have one (RFC 9112
// §6.3 rule 1), but a server that declares one may send it, and it would be read as the next
// response.
bool claims_a_body(const http::Head& head, const Framing& framing) noexcept {
  const bool has_none = head.status < 200 || head.status == code(Status::NoContent);
  return has_none && (head.has(http::FieldName::TransferEncoding) || framing.length_bytes != 0);
}

}  // namespace

ResponseReader::ResponseReader(const ResponseLimits& limits)
    : limits_(limits),
      lines_(limits.head.fields),
      parser_(HeadKind::Response, limits.head, lines_) {}

void ResponseReader::start(ResponseTo request) {
  request_ = request;
  parser_.reset();
  head_text_.clear();
  head_ = {};
  framing_ = {};
  error_ = Errc::None;
  state_ = State::Head;
  has_begun_ = is_interim_told_ = false;
  keeps_alive_ = true;
  interim_count_ = 0;
  interim_bytes_ = 0;
}

ResponseReader::Step ResponseReader::read(std::string_view input) {
  switch (state_) {
    case State::Head: return read_head(input);
    case State::Body: return read_body(input);
    case State::Complete: return {.event = ResponseEvent::Complete};
    case State::Switched: return {.event = ResponseEvent::Switched};
    case State::Failed: break;
  }
  return {.event = ResponseEvent::Failed};
}

ResponseReader::Step ResponseReader::fail(Error error) noexcept {
  state_ = State::Failed;
  error_ = error;
  return {.event = ResponseEvent::Failed};
}

ResponseReader::Step ResponseReader::read_head(std::string_view input) {
  if (input.empty()) return {};
  has_begun_ = true;
  if (is_interim_told_) {
    is_interim_told_ = false;
    parser_.reset();
    head_text_.clear();
  }
  // A head that arrives in one piece is parsed in place. Otherwise it is copied, up to one byte
  // over the limit, which is enough to detect that it is too long.
  const std::size_t before = head_text_.size();
  if (before != 0) head_text_.append(input.substr(0, limits_.head.head_bytes - before + 1));
  switch (parser_.parse(before != 0 ? std::string_view(head_text_) : input)) {
    case ParseStatus::Failed: return fail(parser_.error());
    case ParseStatus::NeedMore:
      if (before == 0) head_text_.assign(input);
      return {.consumed_bytes = input.size()};
    case ParseStatus::Complete: break;
  }
  const std::size_t size_bytes = parser_.head().size_bytes;
  if (before == 0) head_text_.assign(input.substr(0, size_bytes));
  head_text_.resize(size_bytes);
  head_ = parser_.head();
  head_.base = head_text_.data();
  return take_head(size_bytes - before);
}

ResponseReader::Step ResponseReader::take_head(std::size_t consumed_bytes) {
  const Result<Framing> framing = frame_response(head_, request_.method);
  if (!framing) return fail(framing.error());
  framing_ = *framing;
  keeps_alive_ = keeps_alive_ && framing_.keep_alive && !claims_a_body(head_, framing_);
  if (is_interim(head_)) return take_interim(consumed_bytes);
  const Step told{.event = ResponseEvent::Head, .consumed_bytes = consumed_bytes};
  if (head_.status == code(Status::SwitchingProtocols)) {
    // RFC 9110 §7.8: only if the request offered it; §15.2.2: Upgrade names the new protocol.
    if (!request_.offers_upgrade || framing_.upgrade.empty()) return fail(Errc::UnexpectedUpgrade);
    state_ = State::Switched;
    return told;
  }
  if (request_.method == Method::Connect && head_.status / 100 == 2) {
    state_ = State::Switched;
    return told;
  }
  state_ = State::Body;
  // The head is valid; a length over the limit is reported by the next read().
  static_cast<void>(decoder_.start(framing_, limits_.body));
  return told;
}

ResponseReader::Step ResponseReader::take_interim(std::size_t consumed_bytes) {
  if (interim_count_ == limits_.interim_responses) return fail(Errc::TooManyInterimResponses);
  ++interim_count_;
  interim_bytes_ += head_.size_bytes;
  if (interim_bytes_ > limits_.interim_bytes) return fail({Errc::HeadTooLong, "interim responses"});
  is_interim_told_ = true;
  return {.event = ResponseEvent::Interim, .consumed_bytes = consumed_bytes};
}

ResponseReader::Step ResponseReader::read_body(std::string_view input) {
  const BodyDecoder::Step step = decoder_.step(input);
  if (!step.data.empty()) {
    // The decoder reports its status again on the next call.
    return {.event = ResponseEvent::Data, .consumed_bytes = step.consumed_bytes, .data = step.data};
  }
  switch (step.status) {
    case BodyStatus::More: return {.consumed_bytes = step.consumed_bytes};
    case BodyStatus::Failed: return fail(decoder_.error());
    case BodyStatus::Done: break;
  }
  state_ = State::Complete;
  return {.event = ResponseEvent::Complete, .consumed_bytes = step.consumed_bytes};
}

Result<void> ResponseReader::end_of_input() {
  keeps_alive_ = false;
  if (state_ == State::Head) {
    fail({Errc::Closed, has_begun_ ? "inside the head of a response" : "before the response"});
  } else if (state_ == State::Body) {
    if (const Result<void> end = decoder_.end_of_input(); !end) {
      fail(end.error());
    } else {
      state_ = State::Complete;
    }
  }
  return error_;
}

}  // namespace skua::h1
