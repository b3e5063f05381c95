// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace skua::cli::curl {

/// A URL that a pattern stands for, and the text of each of its parts in braces or brackets.
struct GlobbedUrl {
  std::string url{};
  std::vector<std::string> values{};
};

/// Expands the patterns of curl: `{a,b}`, `[1-9]`, `[001-100:10]` and `[a-z]`. A backslash before a
/// brace or bracket makes it a character; an IPv6 address in brackets is one.
///
/// Ends with: CLI::ValidationError for a malformed pattern, and one that stands for too many.
std::vector<GlobbedUrl> expand_glob(const std::string& pattern);

/// Replaces `#1` by the text of the first pattern, and so on; numbers without a pattern stay.
std::string fill_name(const std::string& name, const std::vector<std::string>& values);

}  // namespace skua::cli::curl
