// SPDX-License-Identifier: MIT
// In: a response. Out: its head and body in one string in wire form, without the lines that differ
// each time (Date, Connection).
#include "skua/prepared_response.hpp"

#include <limits>
#include <stdexcept>

namespace skua {

PreparedResponse::PreparedResponse(const Response& response)
    : status_(response.status()), closes_connection_(response.closes_connection()) {
  if (response.content().file() != nullptr) {
    throw std::invalid_argument("PreparedResponse: the body is a file");
  }
  Response plain(response);
  plain.unprepare();
  type_ = plain.type_;
  lines_ = plain.lines();

  // RFC 9112 §4: the reason phrase may be empty, but the space before it is required.
  wire_ = "HTTP/1.1 " + std::to_string(code(status_)) + ' ';
  wire_.append(reason(status_)).append("\r\n");
  const std::string_view type = plain.static_type();
  if (!type.empty()) wire_.append("Content-Type: ").append(type).append("\r\n");
  wire_.append(lines_.wire());
  if (!is_bodiless(status_)) {
    wire_.append("Content-Length: ").append(std::to_string(plain.body().size())).append("\r\n");
  }
  if (wire_.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw std::invalid_argument("PreparedResponse: the fields are too long");
  }
  head_bytes_ = static_cast<std::uint32_t>(wire_.size());
  if (!is_bodiless(status_)) wire_.append(plain.body());
  wire_.shrink_to_fit();
}

std::string_view PreparedResponse::content_type() const noexcept {
  if (!static_type().empty()) return static_type();
  return lines_.find("Content-Type").value_or(std::string_view{});
}

}  // namespace skua
