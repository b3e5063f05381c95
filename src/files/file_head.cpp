// SPDX-License-Identifier: MIT
// In: a file's path and state. Out: the fields that describe it, and the 200 and 304 responses.
#include "files/file_head.hpp"

#include "base/http_date.hpp"
#include "files/mime_type.hpp"

#include <algorithm>
#include <utility>

namespace skua::files {

FileHead describe(std::string_view path, const FileStat& stat, WallTime now) {
  const WallTime modified{std::chrono::nanoseconds(stat.modified_ns)};
  FileHead head;
  head.etag = make_etag(stat, now);
  head.type = mime_type(path);
  // Rounded down, so that a client that sends this second back gets 304.
  head.modified = std::chrono::floor<std::chrono::seconds>(std::min(modified, now));
  char date[http_date_bytes];
  format_http_date(head.modified, date);
  head.last_modified.assign(date, http_date_bytes);
  return head;
}

std::string cache_control(std::chrono::seconds max_age) {
  if (max_age.count() < 0) return {};
  if (max_age.count() == 0) return "no-cache";
  return "max-age=" + std::to_string(max_age.count());
}

void add_validators(Response& response, const FileHead& head, std::string_view cache_control) {
  response.header("ETag", head.etag);
  response.header("Last-Modified", head.last_modified);
  if (!cache_control.empty()) response.header("Cache-Control", cache_control);
}

Response whole_response(const FileHead& head, Body body, std::string_view cache_control) {
  Response response(Status::Ok, std::move(body), head.type);
  add_validators(response, head, cache_control);
  response.header("Accept-Ranges", "bytes");
  response.header("X-Content-Type-Options", "nosniff");
  return response;
}

Response unchanged_response(const FileHead& head, std::string_view cache_control) {
  Response response(Status::NotModified);
  add_validators(response, head, cache_control);
  return response;
}

}  // namespace skua::files
