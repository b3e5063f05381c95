// SPDX-License-Identifier: MIT
// In: what became of a request about an upload. Out: the answer in its protocol.
#include "files/upload/resumable_answers.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/http_date.hpp"
#include "files/site_answer.hpp"
#include "files/upload/upload_answer.hpp"

namespace skua::files {
namespace {

constexpr std::string_view problem_types = "https://iana.org/assignments/http-problem-types#";

// RFC 9457
Response problem(Status status, std::string_view type, std::string_view title,
                 std::string_view members = {}) {
  std::string text = R"({"type":")";
  text.append(problem_types).append(type).append(R"(","title":")").append(title).append("\"");
  text.append(members).append("}\n");
  Response response(status);
  response.body(std::move(text), "application/problem+json");
  return response;
}

std::string file_url(const UploadRequest& asked, const PartWriter& writer) {
  return url_of(asked.base + writer.folder() + writer.state().name);
}

void add_expiry(Response& response, const UploadOptions& options, std::uint64_t size_bytes) {
  std::array<char, http_date_bytes> text{};
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const std::chrono::seconds longest =
      size_bytes == 0 ? keep_empty : std::chrono::seconds(std::chrono::hours(24 * 365));
  // time-safe: a year at most
  format_http_date(now + std::min<std::chrono::seconds>(options.keep_unfinished, longest), text);
  response.header("Upload-Expires", std::string_view(text.data(), text.size()));
}

}  // namespace

std::string limits_of(const UploadOptions& options) {
  return "max-size=" + std::to_string(options.max_bytes) +
         ", max-age=" + std::to_string(options.keep_unfinished.count());
}

std::string part_url(const UploadRequest& asked, const PartWriter& writer) {
  std::string path = asked.base;
  path.append(part_folder).append(writer.token()).append(writer.folder());
  return url_of(path);
}

Response with_tus(Response response, bool is_tus) {
  if (is_tus) response.header("Tus-Resumable", tus_version);
  return response;
}

Response refused(const UploadResult& result, bool is_tus) {
  return with_tus(refusal(result.status, result.reason), is_tus);
}

Response refused(Status status, std::string_view reason, bool is_tus) {
  return with_tus(refusal(status, reason), is_tus);
}

Response wrong_offset(const UploadRequest& asked, std::uint64_t expected) {
  const std::string offset = std::to_string(expected);
  const std::string members = ",\"expected-offset\":" + offset + ",\"provided-offset\":" +
                              std::to_string(asked.offset_bytes.value_or(0));
  Response response = problem(Status::Conflict, "mismatching-upload-offset",
                              "the upload has another offset", members);
  response.header("Upload-Offset", offset);
  if (!asked.is_tus) response.header("Upload-Complete", "?0");
  return with_tus(std::move(response), asked.is_tus);
}

Response already_complete(bool is_tus) {
  return with_tus(problem(Status::BadRequest, "completed-upload", "the upload is complete"),
                  is_tus);
}

Response wrong_length(bool is_tus) {
  return with_tus(problem(Status::BadRequest, "inconsistent-upload-length",
                          "the lengths of the upload do not agree"),
                  is_tus);
}

Response too_long(const UploadOptions& options, bool is_tus) {
  Response response = refused(Status::ContentTooLarge, "the upload is too long", is_tus);
  return std::move(response.header("Upload-Limit", limits_of(options)));
}

Response appended(const UploadRequest& asked, const UploadSite& site, const PartWriter& writer,
                  std::uint64_t size_bytes) {
  Response response(asked.creates ? Status::Created : Status::NoContent);
  if (asked.creates) response.header("Location", part_url(asked, writer));
  response.header("Upload-Offset", std::to_string(size_bytes));
  if (asked.is_tus) {
    add_expiry(response, site.options(), size_bytes);
  } else {
    response.header("Upload-Complete", "?0");
    if (asked.creates) response.header("Upload-Limit", limits_of(site.options()));
  }
  return with_tus(std::move(response), asked.is_tus);
}

Response completed(const UploadRequest& asked, const PartWriter& writer, const UploadResult& result,
                   std::uint64_t size_bytes) {
  const bool is_stored = result.reason.empty();
  if (!asked.is_tus) {
    Response response = is_stored ? stored_response(result, file_url(asked, writer))
                                  : refusal(result.status, result.reason);
    return std::move(response.header("Upload-Complete", "?1"));
  }
  if (!is_stored) return refused(result, true);
  Response response(asked.creates ? Status::Created : Status::NoContent);
  if (asked.creates) response.header("Location", part_url(asked, writer));
  response.header("Upload-Offset", std::to_string(size_bytes));
  return with_tus(std::move(response), true);
}

Response state_response(const UploadRequest& asked, const UploadOptions& options,
                        const PartState& state, std::uint64_t size_bytes, bool is_complete) {
  Response response(asked.is_tus ? Status::Ok : Status::NoContent);
  response.header("Upload-Offset", std::to_string(size_bytes));
  if (state.length_bytes) {
    response.header("Upload-Length", std::to_string(*state.length_bytes));
  } else if (asked.is_tus) {
    response.header("Upload-Defer-Length", "1");
  }
  response.header("Cache-Control", "no-store");
  if (asked.is_tus) {
    if (!state.metadata.empty()) response.header("Upload-Metadata", state.metadata);
    if (!is_complete) add_expiry(response, options, size_bytes);
  } else {
    response.header("Upload-Complete", is_complete ? "?1" : "?0");
    response.header("Upload-Limit", limits_of(options));
  }
  return with_tus(std::move(response), asked.is_tus);
}

Response upload_options_response(const UploadOptions& options, bool is_part) {
  Response response(Status::NoContent);
  response.header("Allow",
                  is_part ? "HEAD, PATCH, DELETE, OPTIONS" : "GET, HEAD, PUT, POST, OPTIONS");
  response.header("Accept-Patch", "application/partial-upload");
  response.header("Upload-Limit", limits_of(options));
  response.header("Tus-Resumable", tus_version);
  response.header("Tus-Version", tus_version);
  response.header("Tus-Extension", tus_extensions);
  response.header("Tus-Max-Size", std::to_string(options.max_bytes));
  return response;
}

}  // namespace skua::files
