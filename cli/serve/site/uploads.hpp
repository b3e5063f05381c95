// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "configure.hpp"
#include "skua/error.hpp"
#include "skua/router.hpp"
#include "skua/upload_options.hpp"

namespace skua::cli {

struct ServeOptions;

/// Options of `skua serve` for uploads.
struct ServeUploads {
  std::string folder{};  ///< that accepts them, as a path below DIR: `/`, `/inbox/`; empty: none
  UploadOptions options{};
  bool anyone = false;  ///< without a login, also from other machines
};

/// The folder of the URLs of resumable uploads, below that of uploads.
inline constexpr std::string_view upload_parts = ".skua-uploads/";

/// Adds the options to the command; `uploads` must outlive the parser.
void declare_uploads(CLI::App& parser, ServeUploads& uploads);

/// Ends with: a problem if other machines could upload without a login, unless that was asked for.
Result<void, Problem> check_uploads(const ServeOptions& options);

/// Adds the routes for uploads, if there are any.
///
/// Ends with: the error of the folder.
Result<void, Problem> add_uploads(Router& router, const ServeOptions& options);

/// Reports whether those who change files need a login.
bool has_login(const ServeOptions& options) noexcept;

/// Returns who may upload, and where, for a line after the address; empty if nobody may.
std::string upload_text(const ServeOptions& options);

}  // namespace skua::cli
