// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "part_file.hpp"
#include "skua/client.hpp"
#include "skua/url.hpp"

namespace skua::cli {

/// What If-Range may say later about the content of a response: a strong ETag, or a date that is
/// old enough to be one; empty where there is neither.
///
/// RFC:       9110 §8.8.2.2, §13.1.5
std::string strong_validator(const ClientResponse& response);

/// The origin of what a response has.
PartOrigin origin_of(const Url& url, const ClientResponse& response);
/// The URL as an origin has it: without a name, a password and a fragment.
std::string origin_url(const Url& url);

/// What to do with a response to a request for a part, or for the whole.
enum class Verdict : std::uint8_t {
  Append,   ///< it goes on where we are
  Restart,  ///< it is the whole
  Whole,    ///< we have all of it
  Again,    ///< it does not belong to what we have: ask for the whole
  Refuse,   ///< it is nothing to save
};
Verdict judge(const ClientResponse& response, const PartFile& part, bool asked_for_part);

/// How large the whole is that a response has a part of, where it says so.
std::optional<std::uint64_t> total_told(const ClientResponse& response);

/// The name that a response has by Content-Disposition, as a file may be called; empty for none.
std::string name_told(const ClientResponse& response);
/// The name that the last segment of a URL gives; `index.html` where there is none.
std::string name_in(const Url& url);

}  // namespace skua::cli
