// SPDX-License-Identifier: MIT
// In: a request, and the validators of what its handler is about to change. Out: nothing if it may
// go on, or else the response.
#include "skua/preconditions.hpp"

#include <stdexcept>
#include <string>

#include "base/http_date.hpp"
#include "http/message/conditional.hpp"
#include "http/message/request_parts.hpp"

namespace skua {
namespace {

Response refusal(Status status, const http::Validators& current) {
  Response response(status);
  if (!current.etag.empty()) response.header("ETag", current.etag);
  if (current.modified) {
    char date[http_date_bytes];
    format_http_date(*current.modified, date);
    response.header("Last-Modified", std::string_view(date, http_date_bytes));
  }
  return response;
}

}  // namespace

std::optional<Response> check_preconditions(const Request& request,
                                            std::optional<std::string_view> etag,
                                            std::optional<std::chrono::sys_seconds> modified) {
  const http::Validators current{
      .etag = etag.value_or(""), .modified = modified, .exists = etag.has_value()};
  if (!current.etag.empty() && !http::parse_entity_tag(current.etag)) {
    throw std::invalid_argument("check_preconditions: not an entity tag, which has quotes: " +
                                std::string(current.etag));
  }
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const http::Head& head = *http::RequestAccess::parts(request).head;
  switch (http::check_preconditions(head, current, now)) {
    case http::Precondition::Proceed: break;
    case http::Precondition::NotModified: return refusal(Status::NotModified, current);
    case http::Precondition::Failed: return refusal(Status::PreconditionFailed, current);
  }
  return std::nullopt;
}

}  // namespace skua
