// SPDX-License-Identifier: MIT
// In: a Range field, an If-Range field and content, the fields on lines of their own. Checked: the
// response is the whole content, 416, or exactly the bytes that a 206 says it has; all kinds of
// content get the same one.
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "h1/head_parser.hpp"
#include "http/form/multipart_parser.hpp"
#include "http/message/partial_content.hpp"
#include "skua/response.hpp"

namespace {

using skua::http::MultipartStatus;

constexpr std::chrono::sys_seconds now{std::chrono::seconds(1'700'000'000)};

void check(bool holds) {
  if (!holds) std::abort();
}

struct Piece {
  std::size_t first = 0;
  std::string text{};
};

// Reads `bytes FIRST-LAST/SIZE`, and checks the content that comes with it.
Piece check_piece(std::string_view range, std::string_view text, std::string_view whole) {
  constexpr std::string_view unit = "bytes ";
  check(range.starts_with(unit));
  std::array<std::size_t, 3> numbers{};
  const char* at = range.data() + unit.size();
  const char* const end = range.data() + range.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto [stop, error] = std::from_chars(at, end, numbers[i]);
    check(error == std::errc() && (stop == end) == (i == 2));
    check(i == 2 || *stop == (i == 0 ? '-' : '/'));
    at = stop + 1;
  }
  const auto [first, last, size] = numbers;
  check(first <= last && last < size && size == whole.size());
  check(text == whole.substr(first, last - first + 1));
  return {first, std::string(text)};
}

std::vector<Piece> check_parts(std::string_view type, std::string_view content,
                               std::string_view whole) {
  const auto boundary = skua::http::parse_boundary(type);
  check(boundary.has_value());
  skua::http::MultipartParser parser(*boundary, {.parts = 16});
  std::vector<Piece> pieces;
  std::string text;
  MultipartStatus status = MultipartStatus::More;
  while (status != MultipartStatus::Done) {
    const auto step = parser.step(content);
    content.remove_prefix(step.consumed_bytes);
    status = step.status;
    check(status != MultipartStatus::Failed);
    check(status != MultipartStatus::More || !content.empty() || !step.data.empty());
    text += step.data;
    if (status == MultipartStatus::Part) text.clear();
    if (status != MultipartStatus::PartEnd) continue;
    const auto range = parser.find("Content-Range");
    check(range.has_value() && parser.find("Content-Type") == "text/x");
    pieces.push_back(check_piece(*range, text, whole));
  }
  check(pieces.size() > 1);
  return pieces;
}

// Returns what the response has, without the boundary, which is random.
std::string check_response(const skua::Response& response, std::string_view whole) {
  std::string summary = std::to_string(skua::code(response.status()));
  const std::string_view text = response.content().text();
  const auto range = response.header("Content-Range");
  if (response.status() == skua::Status::Ok) {
    check(text == whole && !range);
    return summary;
  }
  if (response.status() == skua::Status::RangeNotSatisfiable) {
    check(range == "bytes */" + std::to_string(whole.size()));
    return summary;
  }
  check(response.status() == skua::Status::PartialContent);
  check(response.header("Accept-Ranges") == "bytes");
  const std::vector<Piece> pieces = range ? std::vector{check_piece(*range, text, whole)}
                                          : check_parts(response.content_type(), text, whole);
  for (const Piece& piece : pieces) {
    summary.append(" ").append(std::to_string(piece.first)).append(" ").append(piece.text);
  }
  return summary;
}

std::string answer(const skua::http::Head& head, skua::Body body, std::string_view whole,
                   bool is_coded) {
  const skua::http::Validators current{.etag = "\"abc\"", .modified = now - std::chrono::hours(1)};
  skua::Response response(skua::Status::Ok, std::move(body), "text/x");
  if (is_coded) response.header("Content-Encoding", "x");
  skua::http::apply_range(head, current, now, response);
  check(!is_coded || response.status() != skua::Status::PartialContent ||
        response.header("Content-Range"));
  return check_response(response, whole);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t range_end = std::min(input.find('\n'), size);
  const std::size_t if_range_end = std::min(input.find('\n', std::min(range_end + 1, size)), size);
  const std::string_view if_range =
      input.substr(std::min(range_end + 1, size), if_range_end - std::min(range_end + 1, size));
  const std::string whole(input.substr(std::min(if_range_end + 1, size)));
  std::string bytes = "GET / HTTP/1.1\r\nRange: " + std::string(input.substr(0, range_end));
  if (!if_range.empty()) bytes.append("\r\nIf-Range: ").append(if_range);
  bytes += "\r\n\r\n";
  std::array<skua::http::FieldLine, 128> lines;
  skua::h1::HeadParser parser(skua::h1::HeadKind::Request, {}, lines);
  if (parser.parse(bytes) != skua::h1::ParseStatus::Complete) return 0;
  const skua::http::Head& head = parser.head();
  if (whole.empty()) return 0;
  const auto shared = std::make_shared<const std::string>(whole);
  const std::string summary = answer(head, skua::Body(whole), whole, false);
  check(answer(head, skua::Body::borrowed(whole), whole, false) == summary);
  check(answer(head, skua::Body(shared), whole, false) == summary);
  check(answer(head, skua::Body(std::string_view(whole)), whole, false) == summary);
  answer(head, skua::Body(whole), whole, true);
  return 0;
}
