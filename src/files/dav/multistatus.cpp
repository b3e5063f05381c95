// SPDX-License-Identifier: MIT
#include "files/dav/multistatus.hpp"

#include <utility>

#include "files/site_answer.hpp"

namespace skua::files {

// A URL of ours has no character that XML would need to escape.
void append_href(std::string& out, std::string_view path) {
  out.append("<D:href>").append(url_of(path)).append("</D:href>");
}

void append_status(std::string& out, Status status) {
  out.append("<D:status>HTTP/1.1 ").append(std::to_string(code(status))).append(" ");
  out.append(reason(status)).append("</D:status>");
}

Response status_response(std::span<const ResourceStatus> failures, std::string_view prefix) {
  std::string text(multistatus_begin);
  for (const ResourceStatus& failure : failures) {
    text += "<D:response>";
    append_href(text, std::string(prefix).append(failure.path));
    append_status(text, failure.status);
    text += "</D:response>\n";
  }
  text.append(multistatus_end);
  return {Status::MultiStatus, Body(std::move(text)), dav_media_type};
}

Response condition_response(Status status, std::string_view condition) {
  std::string text("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:error xmlns:D=\"DAV:\"><D:");
  text.append(condition).append("/></D:error>\n");
  return {status, Body(std::move(text)), dav_media_type};
}

}  // namespace skua::files
