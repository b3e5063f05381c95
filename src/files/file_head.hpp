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

/// The metadata of a file in a response.
struct FileHead {
  std::string etag{};           ///< including its quotes
  std::string last_modified{};  ///< never in the future: RFC 9110 §8.8.2.1
  std::string_view type{};      ///< media type, with static lifetime
  std::chrono::sys_seconds modified{};

  [[nodiscard]] http::Validators validators() const noexcept SKUA_LIFETIMEBOUND {
    return {.etag = etag, .modified = modified};
  }
};

/// Describes the file at `path` in this state, as of `now`.
FileHead describe(std::string_view path, const FileStat& stat, WallTime now);

/// Returns the Cache-Control value for `max_age`; empty if the field is to be omitted.
std::string cache_control(std::chrono::seconds max_age);

/// Adds ETag, Last-Modified and Cache-Control, which 200, 206 and 304 share. RFC 9110 §15.4.5
void add_validators(Response& response, const FileHead& head, std::string_view cache_control);

/// Returns 200 with the whole file, its type, validators and Accept-Ranges.
Response whole_response(const FileHead& head, Body body, std::string_view cache_control);

/// Returns 304. RFC 9110 §15.4.5
Response unchanged_response(const FileHead& head, std::string_view cache_control);

}  // namespace skua::files
