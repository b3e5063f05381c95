// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "configure.hpp"
#include "skua/error.hpp"
#include "skua/request.hpp"
#include "skua/router.hpp"
#include "skua/webdav_options.hpp"

namespace skua::cli {

struct ServeOptions;

/// Options of `skua serve` for WebDAV.
struct ServeWebDav {
  std::string folder{};  ///< as a path below DIR: `/`, `/inbox/`; empty: none
  WebDavOptions options{};
  bool anyone = false;  ///< without a login, also from other machines
};

/// Adds the options to the command, after those of uploads; `webdav` must outlive the parser.
void declare_webdav(CLI::App& parser, ServeWebDav& webdav);

/// Checks uploads, too.
///
/// Ends with: a problem if other machines could change files without a login, unless that was asked
///            for.
Result<void, Problem> check_changes(const ServeOptions& options);

/// Adds the routes of WebDAV, if it is asked for. GET and HEAD are those of the site.
///
/// Ends with: the error of the folder.
Result<void, Problem> add_webdav(Router& router, const ServeOptions& options);

/// Reports whether a request may change files by WebDAV.
bool is_webdav_change(const Request& request, const ServeWebDav& webdav) noexcept;

/// Returns who may change files, and where, for a line after the address; empty if nobody may.
std::string webdav_text(const ServeOptions& options);

}  // namespace skua::cli
