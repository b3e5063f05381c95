// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "serve/site/path_glob.hpp"

namespace skua::cli {

/// A field of the responses for some paths, or for all.
struct HeaderRule {
  std::string name{};
  std::string value{};
  std::optional<PathGlob> paths{};
};

/// Parses `NAME: VALUE`, or `NAME: VALUE [GLOB]` with a glob in brackets.
///
/// Ends with: std::invalid_argument for a malformed line, a field that is the server's, and a glob
///            that PathGlob refuses.
HeaderRule parse_header_rule(const std::string& text);

/// The Cache-Control of the files at some paths.
struct CacheRule {
  PathGlob paths;
  std::string value{};
};

/// Parses `GLOB=RULE`, where the rule is `immutable`, `no-cache`, `no-store` or a number of
/// seconds.
///
/// Ends with: std::invalid_argument, likewise.
CacheRule parse_cache_rule(const std::string& text);

}  // namespace skua::cli
