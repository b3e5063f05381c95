// SPDX-License-Identifier: MIT
//
// In: the text of a head. Out: what the server has to know of it, or why it is refused.
// The idea: names become small enums with a switch over their length, fields become pairs of views
// in one vector, and a refusal is a value that is returned, since hostile input has to be cheap,
// too.

#include "head.hpp"

#include <strings.h>

#include <algorithm>
#include <charconv>

namespace ladder {
namespace {

constexpr std::size_t npos = std::string_view::npos;

enum class Name : std::uint8_t { Connection, ContentLength, Expect, TransferEncoding, Other };

// As std::string_view::operator==, but upper and lower case are the same.
bool is_same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

Method method_of(std::string_view text) {
  switch (text.size()) {
    case 3: return text == "GET" ? Method::Get : Method::Other;
    case 4: return text == "POST" ? Method::Post : Method::Other;
    default: return Method::Other;
  }
}

// One comparison at most: most names are told apart by their length.
Name name_of(std::string_view text) {
  const auto if_same = [text](std::string_view other, Name name) {
    return is_same(text, other) ? name : Name::Other;
  };
  switch (text.size()) {
    case 6: return if_same("Expect", Name::Expect);
    case 10: return if_same("Connection", Name::Connection);
    case 14: return if_same("Content-Length", Name::ContentLength);
    case 17: return if_same("Transfer-Encoding", Name::TransferEncoding);
    default: return Name::Other;
  }
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Returns the next element of a list such as `keep-alive, close`, and cuts it off.
std::string_view take_element(std::string_view& list) {
  const std::size_t comma = std::min(list.find(','), list.size());
  const std::string_view element = trim(list.substr(0, comma));
  list.remove_prefix(std::min(comma + 1, list.size()));
  return element;
}

Status parse_length(std::string_view text, std::size_t& length) {
  // An unsigned number: from_chars() takes no sign, no blank, and reports what is too large.
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, length);
  if (error == std::errc::result_out_of_range) return Status::ContentTooLarge;
  if (error != std::errc{} || stopped != end) return Status::BadRequest;
  return length > max_body_bytes ? Status::ContentTooLarge : Status::Ok;
}

}  // namespace

Status Head::parse(std::string_view text) {
  fields.clear();  // keeps its memory
  bool is_first = true;
  while (true) {
    const std::size_t end = text.find('\r');  // never npos: the text ends in an empty line
    const std::string_view line = text.substr(0, end);
    // A lone CR or LF, or a NUL, ends a line for some programs, but not for others.
    const bool is_split = text[end + 1] != '\n' || line.find('\n') != npos;
    if (is_split || line.find('\0') != npos) return Status::BadRequest;
    text.remove_prefix(end + 2);
    if (!is_first && line.empty()) return obey_fields();
    const Status status = is_first ? parse_request_line(line) : parse_field(line);
    if (status != Status::Ok) return status;
    is_first = false;
  }
}

Status Head::parse_request_line(std::string_view line) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  // Three words with one blank between each two.
  if (first == npos || first == 0 || last == first + 1) return Status::BadRequest;
  if (line.find(' ', first + 1) != last) return Status::BadRequest;
  const std::string_view version = line.substr(last + 1);
  if (version.size() != 8 || !version.starts_with("HTTP/")) return Status::BadRequest;
  if (!version.starts_with("HTTP/1.")) return Status::VersionNotSupported;
  keeps_alive = version != "HTTP/1.0";
  method = method_of(line.substr(0, first));
  return Status::Ok;
}

Status Head::parse_field(std::string_view line) {
  const std::size_t colon = line.find(':');
  // A blank before the colon could hide a Content-Length from some servers, but not from others.
  if (colon == npos || colon == 0 || line.substr(0, colon).find_first_of(" \t") != npos) {
    return Status::BadRequest;
  }
  fields.emplace_back(line.substr(0, colon), trim(line.substr(colon + 1)));
  return Status::Ok;
}

Status Head::obey_fields() {
  bool has_length = false;
  content_length = 0;
  expects_continue = false;
  for (const auto& [name, value] : fields) {
    switch (name_of(name)) {
      case Name::ContentLength: {
        if (has_length) return Status::BadRequest;
        has_length = true;
        const Status status = parse_length(value, content_length);
        if (status != Status::Ok) return status;
        break;
      }
      case Name::Connection:
        for (std::string_view list = value; !list.empty();) {
          if (is_same(take_element(list), "close")) keeps_alive = false;
        }
        break;
      case Name::Expect: expects_continue = is_same(value, "100-continue"); break;
      case Name::TransferEncoding: return Status::NotImplemented;
      case Name::Other: break;
    }
  }
  return method == Method::Other ? Status::MethodNotAllowed : Status::Ok;
}

std::size_t head_size(std::string_view text, std::size_t searched) {
  // The empty line may have begun in the part that was searched.
  const std::size_t end = text.find("\r\n\r\n", searched - std::min<std::size_t>(searched, 3));
  return end == npos ? 0 : end + 4;
}

}  // namespace ladder
