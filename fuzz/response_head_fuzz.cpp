// SPDX-License-Identifier: MIT
// In: a seed for splits, the request method, then all bytes from a server on a connection. Checked:
// the responses that a client reads do not depend on how the bytes are split, and the framing of
// each follows RFC 9112 §6.3.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "h1/body_decoder.hpp"
#include "h1/framing.hpp"
#include "h1/head_parser.hpp"

namespace {

using skua::Method;
using skua::h1::BodyDecoder;
using skua::h1::BodyKind;
using skua::h1::BodyStatus;
using skua::h1::Framing;
using skua::h1::ParseStatus;

constexpr skua::h1::HeadLimits small{
    .target_bytes = 100, .field_line_bytes = 400, .head_bytes = 2000, .fields = 24};
constexpr std::array methods{Method::Get, Method::Head, Method::Connect, Method::Post};

void check(bool holds) {
  if (!holds) std::abort();
}

void check_framing(const skua::http::Head& head, const Framing& framing, Method method) {
  check(head.status >= 100 && head.status <= 999 && head.minor_version <= 1);
  const bool is_tunnel = method == Method::Connect && head.status / 100 == 2;
  const bool is_bodiless =
      head.status / 100 == 1 || head.status == 204 || head.status == 304 || is_tunnel;
  if (is_bodiless || method == Method::Head) check(framing.body == BodyKind::None);
  if (framing.body == BodyKind::UntilClose) check(!framing.keep_alive);
  if (framing.body == BodyKind::Length) check(framing.has_content_length);
  using skua::http::FieldName;
  const bool has_both = head.has(FieldName::ContentLength) && head.has(FieldName::TransferEncoding);
  check(!has_both || is_tunnel);
}

/// A client's reading side; formats its results as text.
class Reader {
 public:
  explicit Reader(Method method) : method_(method) {}
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void feed(std::string_view piece) {
    while (!piece.empty() && !is_over_) {
      if (is_in_body_) {
        feed_body(piece);
      } else {
        feed_head(piece);
      }
    }
  }
  std::string finish() {
    if (!is_over_ && is_in_body_ && !decoder_.end_of_input()) text_ += " cut off";
    return text_;
  }

 private:
  void feed_head(std::string_view& piece) {
    const std::size_t before = received_.size();
    received_ += piece;
    const ParseStatus status = parser_.parse(received_);
    if (status == ParseStatus::Failed) return fail(parser_.error());
    if (status == ParseStatus::NeedMore) {
      piece = {};
      return;
    }
    const skua::http::Head& head = parser_.head();
    check(head.size_bytes <= received_.size() && head.size_bytes > before);
    piece.remove_prefix(head.size_bytes - before);
    const auto framing = skua::h1::frame_response(head, method_);
    if (!framing) return fail(framing.error().code());
    check_framing(head, *framing, method_);
    text_ += "\n" + std::to_string(head.status);
    for (const auto& line : head.fields) text_.append(" ").append(head.value(line));
    text_ += framing->keep_alive ? " keeps:" : " closes:";
    ends_here_ = !framing->keep_alive || !framing->upgrade.empty();
    received_.clear();
    parser_.reset();
    is_in_body_ = true;
    if (!decoder_.start(*framing, {.body_bytes = 5000})) return fail(decoder_.error());
    if (decoder_.is_done()) end_message();
  }

  void feed_body(std::string_view& piece) {
    const BodyDecoder::Step step = decoder_.step(piece);
    check(step.consumed_bytes <= piece.size());
    text_ += step.data;
    piece.remove_prefix(step.consumed_bytes);
    if (step.status == BodyStatus::Failed) return fail(decoder_.error());
    if (step.status == BodyStatus::Done) end_message();
  }

  void end_message() {
    is_in_body_ = false;
    is_over_ = ends_here_;
  }
  void fail(skua::Errc error) {
    text_ += " error " + std::to_string(static_cast<int>(error));
    is_over_ = true;
  }

  const Method method_;
  std::array<skua::http::FieldLine, 24> lines_;
  skua::h1::HeadParser parser_{skua::h1::HeadKind::Response, small, lines_};
  BodyDecoder decoder_;
  std::string received_;  // an incomplete head
  std::string text_;
  bool is_in_body_ = false;
  bool ends_here_ = false;
  bool is_over_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  std::uint32_t seed = data[0] | static_cast<std::uint32_t>(data[1]) << 8U;
  const Method method = methods[data[2] % methods.size()];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 3, size - 3);

  Reader whole(method);
  whole.feed(bytes);
  Reader split(method);
  for (std::size_t at = 0; at < bytes.size();) {
    seed = seed * 1664525U + 1013904223U;
    const std::size_t count = 1 + (seed >> 24U) % ((seed >> 16U & 1U) != 0 ? 3 : 60);
    split.feed(std::string(bytes.substr(at, count)));  // exactly sized, for sanitizers
    at += count;
  }
  check(whole.finish() == split.finish());
  return 0;
}
