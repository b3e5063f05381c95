// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "skua/response.hpp"
#include "skua/status.hpp"
#include "xml/xml.hpp"

/// The content of 207 responses. RFC 4918 §13, §14
namespace skua::files {

inline constexpr std::string_view dav_namespace = "DAV:";
inline constexpr std::string_view dav_media_type = "application/xml; charset=utf-8";

inline constexpr std::string_view multistatus_begin =
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:multistatus xmlns:D=\"DAV:\">\n";
inline constexpr std::string_view multistatus_end = "</D:multistatus>\n";

/// The status of a resource that a request could not change.
struct ResourceStatus {
  std::string path{};  ///< below the folder; a folder's ends with a slash
  Status status = Status::InternalServerError;
};

/// Appends `<D:href>`, for a decoded path.
void append_href(std::string& out, std::string_view path);

/// Appends `<D:status>`.
void append_status(std::string& out, Status status);

/// Returns 207 with a status for each of these; `prefix` is the path of the folder's URL.
Response status_response(std::span<const ResourceStatus> failures, std::string_view prefix);

/// Returns an error that names the condition, such as `propfind-finite-depth`, which is not met.
Response condition_response(Status status, std::string_view condition);

}  // namespace skua::files
