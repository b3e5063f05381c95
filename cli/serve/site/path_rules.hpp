// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/site/star_path.hpp"
#include "skua/status.hpp"

namespace skua::cli {

/// Serves the file at another path: `/app/*` is `/index.html`.
struct RewriteRule {
  StarPath from;
  StarPath to;
};

/// Parses `FROM=TO`. Both are decoded paths; TO lies below the served folder.
///
/// Ends with: std::invalid_argument if it is malformed.
RewriteRule parse_rewrite_rule(const std::string& text);

/// Sends clients to another URL.
struct RedirectRule {
  StarPath from;
  StarPath to;  ///< a path or an http(s) URL, encoded
  Status status = Status::Found;

  /// Returns the location for a path that matches, with the query of the request unless TO has its
  /// own; nullopt for other paths, and for those of which TO would make `.` or `..`. It never names
  /// another host than TO does.
  [[nodiscard]] std::optional<std::string> location(std::string_view path,
                                                    std::string_view query) const;
};

/// Parses `FROM=TO` or `FROM=TO STATUS`, and adds the rule.
///
/// Ends with: std::invalid_argument if it is malformed, or if clients could be sent in circles: by
///            the rules alone, or with the redirect that adds the slash of a folder.
void add_redirect_rule(std::vector<RedirectRule>& rules, const std::string& text);

/// The page for responses with a status.
struct ErrorPage {
  Status status = Status::NotFound;
  std::string path{};  ///< below the folder
};

/// Parses `STATUS=FILE`.
///
/// Ends with: std::invalid_argument if the status is not 400 to 599, or FILE not a file's path.
ErrorPage parse_error_page(const std::string& text);

/// Returns the path, below the folder, of a file that an option names.
///
/// Ends with: std::invalid_argument if it is not a file's path.
std::string page_path(const std::string& file);

/// Returns the path, below the folder and with a slash at its end, of a folder that an option
/// names.
///
/// Ends with: std::invalid_argument if it is not a folder's path.
std::string folder_path(const std::string& folder);

}  // namespace skua::cli
