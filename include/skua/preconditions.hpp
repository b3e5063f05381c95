// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <chrono>
#include <optional>
#include <string_view>

#include "skua/config.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua {

/// Checks the conditions of a request before its handler acts: that a PUT, PATCH or DELETE changes
/// the version that its client has seen (If-Match), or makes something that did not exist yet
/// (`If-None-Match: *`). Returns the response if a condition fails: 412, or 304 for GET and HEAD.
///
/// ```cpp
/// router.put("/notes/{id}", [](skua::Request& request, int id) -> skua::Response {
///   Note& note = notes.at(id);
///   if (auto refused = skua::check_preconditions(request, note.tag)) return *refused;
///   ...
/// ```
///
/// `etag` is the tag that a GET of the resource has now, with its quotes, `"v7"`; empty if it has
/// none, and nullopt if there is no such resource. `modified` is its Last-Modified. If the tag is
/// strong, its weak form names the same version: compression() and proxies make it of the same
/// text. A weak tag of the program's own matches no If-Match.
///
/// The server does the same by itself for a 200 to GET or HEAD, so that only handlers which want to
/// save the work of making it call this.
///
/// Ends with: std::invalid_argument if `etag` is not an entity tag.
/// RFC:       9110 §13.1, §13.2.2
[[nodiscard]] SKUA_API std::optional<Response> check_preconditions(
    const Request& request, std::optional<std::string_view> etag,
    std::optional<std::chrono::sys_seconds> modified = std::nullopt);

}  // namespace skua
