// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "files/etag.hpp"
#include "files/safe_path.hpp"
#include "http/conditional.hpp"
#include "skua/response.hpp"

namespace skua::files {

/// What an answer says about a file beside its bytes.
struct FileHead {
  std::string etag{};           ///< quotes included
  std::string last_modified{};  ///< never in the future: RFC 9110 §8.8.2.1
  std::string_view type{};      ///< media type, lives as long as the program
  std::chrono::sys_seconds modified{};

  [[nodiscard]] http::Validators validators() const noexcept SKUA_LIFETIMEBOUND {
    return {.etag = etag, .modified = modified};
  }
};

/// Describes the file at `path` in this state at this moment.
FileHead describe(std::string_view path, const FileStat& stat, WallTime now);

/// The value of Cache-Control for this age; empty: the field is left out.
std::string cache_control(std::chrono::seconds max_age);

/// ETag, Last-Modified and Cache-Control: what 200, 206 and 304 have in common. RFC 9110 §15.4.5
void add_validators(Response& response, const FileHead& head, std::string_view cache_control);

/// The whole file: 200 with its type, its validators and Accept-Ranges.
Response whole_response(const FileHead& head, Body body, std::string_view cache_control);

/// 304. RFC 9110 §15.4.5
Response unchanged_response(const FileHead& head, std::string_view cache_control);

}  // namespace skua::files
