// SPDX-License-Identifier: MIT
// In: a seed for splits, the request, then all bytes from a server on a connection, and its end.
// Checked: the events that a client reads do not depend on how the bytes are split, come in a valid
// order, and stay within their limits.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "h1/response_reader.hpp"

namespace {

using skua::Method;
using skua::h1::ResponseEvent;
using skua::h1::ResponseReader;
using skua::h1::ResponseTo;

constexpr skua::h1::ResponseLimits small{
    .head = {.target_bytes = 100, .field_line_bytes = 400, .head_bytes = 2000, .fields = 24},
    .body = {.body_bytes = 5000, .extension_bytes = 40, .trailer_bytes = 200, .trailer_fields = 6},
    .interim_responses = 3,
    .interim_bytes = 3000};
constexpr std::array methods{Method::Get, Method::Head, Method::Connect, Method::Post};

void check(bool holds) {
  if (!holds) std::abort();
}

/// A client that repeats one request; formats its results as text.
class Client {
 public:
  explicit Client(ResponseTo request) : request_(request), reader_(small) {
    reader_.start(request);
  }

  void feed(std::string_view piece) {
    while (!is_over_ && step(piece)) {
    }
    // After an error nothing counts.
    if (is_over_ && last_ != ResponseEvent::Failed) left_bytes_ += piece.size();
  }
  std::string finish() {
    if (!is_over_) {
      const bool is_fine = reader_.end_of_input().has_value();
      std::string_view nothing;
      step(nothing);
      check(is_over_ && is_fine == (last_ == ResponseEvent::Complete));
    }
    return text_ + " left " + std::to_string(left_bytes_);
  }

 private:
  /// Returns false if more input is needed.
  bool step(std::string_view& piece) {
    const ResponseReader::Step step = reader_.read(piece);
    check(step.consumed_bytes <= piece.size());
    check(step.data.empty() == (step.event != ResponseEvent::Data));
    piece.remove_prefix(step.consumed_bytes);
    last_ = step.event;
    switch (step.event) {
      case ResponseEvent::NeedMore: check(piece.empty()); return false;
      case ResponseEvent::Interim:
        check(!is_in_body_ && reader_.head().status < 200 && ++interim_count_ <= 3);
        add_fields("interim", reader_.head());
        break;
      case ResponseEvent::Head:
        check(!is_in_body_ && (reader_.head().status >= 200 || request_.offers_upgrade));
        is_in_body_ = true;
        add_fields("\nhead", reader_.head());
        break;
      case ResponseEvent::Data:
        check(is_in_body_ && request_.method != Method::Head);
        text_ += step.data;
        break;
      case ResponseEvent::Complete: complete(); break;
      case ResponseEvent::Switched:
        check(reader_.head().status == 101 || request_.method == Method::Connect);
        text_ += " switched";
        is_over_ = true;
        break;
      case ResponseEvent::Failed:
        check(reader_.error().code() != skua::Errc::None && !reader_.can_be_reused());
        text_ += " error " + std::to_string(static_cast<int>(reader_.error().code()));
        is_over_ = true;
        break;
    }
    return true;
  }

  void complete() {
    check(is_in_body_);
    add_fields("trailers", reader_.trailers());
    is_in_body_ = false;
    interim_count_ = 0;
    is_over_ = !reader_.can_be_reused();
    if (!is_over_) reader_.start(request_);
  }

  void add_fields(std::string_view what, const skua::http::Head& head) {
    text_.append(" ").append(what).append(" ").append(std::to_string(head.status));
    for (const auto& line : head.fields) {
      text_.append(" ").append(head.name(line)).append("=").append(head.value(line));
    }
  }

  const ResponseTo request_;
  ResponseReader reader_;
  std::string text_;
  std::size_t left_bytes_ = 0;
  unsigned interim_count_ = 0;
  ResponseEvent last_ = ResponseEvent::NeedMore;
  bool is_in_body_ = false;
  bool is_over_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  std::uint32_t seed = data[0] | static_cast<std::uint32_t>(data[1]) << 8U;
  const ResponseTo request{.method = methods[data[2] % methods.size()],
                           .offers_upgrade = (data[2] & 4U) != 0};
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 3, size - 3);

  Client whole(request);
  whole.feed(bytes);
  Client split(request);
  for (std::size_t at = 0; at < bytes.size();) {
    seed = seed * 1664525U + 1013904223U;
    const std::size_t count = 1 + (seed >> 24U) % ((seed >> 16U & 1U) != 0 ? 3 : 60);
    split.feed(std::string(bytes.substr(at, count)));  // exactly sized, for sanitizers
    at += count;
  }
  check(whole.finish() == split.finish());
  return 0;
}
