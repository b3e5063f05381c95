// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "files/upload/upload_file.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"

namespace skua::files {

/// Reports whether a page of another origin sent the request. Browsers let any page send a form,
/// with the user's credentials. A proxy may have ended TLS, so that only the host can be compared.
///
/// https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header
bool is_from_another_origin(const Request& request) noexcept;

/// Answers PUT for the file at `path`, below the site's root.
///
/// Lifetime:  the request outlives the task.
Task<Response> answer_put(std::shared_ptr<const UploadSite> site, Request& request,
                          std::string path);

}  // namespace skua::files
