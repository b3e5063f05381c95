// SPDX-License-Identifier: MIT
// In: a request and the response of its handler. Out: the same response, or 304 or 412. Malformed
// validators in the response are ignored.
#include "http/response_conditions.hpp"

#include "base/http_date.hpp"
#include "http/conditional.hpp"
#include "http/entity_tag.hpp"
#include "http/request_parts.hpp"

#include <chrono>
#include <optional>
#include <string_view>

namespace skua::http {
namespace {

// RFC 9110 §15.4.5: a 304 does not describe content that it does not have.
void make_unchanged(Response& response) {
  response.status(Status::NotModified).body({});
  for (const std::string_view name : {"Content-Type", "Content-Encoding", "Content-Language"}) {
    response.remove_header(name);
  }
}

}  // namespace

void apply_conditions(const Request& request, Response& response) {
  const Head& head = *RequestAccess::parts(request).head;
  if (!has_conditions(head) || response.status() != Status::Ok) return;
  if (head.method != Method::Get && head.method != Method::Head) return;
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  Validators current;
  const std::optional<std::string_view> etag = response.header("ETag");
  if (etag && parse_entity_tag(*etag)) current.etag = *etag;
  if (const auto date = response.header("Last-Modified")) {
    current.modified = parse_http_date(*date, now);
  }
  if (current.etag.empty() && !current.modified) return;
  switch (check_preconditions(head, current, now)) {
    case Precondition::Proceed: return;
    case Precondition::NotModified: make_unchanged(response); return;
    case Precondition::Failed: response = Response(Status::PreconditionFailed); return;
  }
}

}  // namespace skua::http
