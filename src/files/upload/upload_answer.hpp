// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "files/upload/upload_file.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"

/// The parts of an answer that uploads of all kinds have in common.
namespace skua::files {

Response refusal(Status status, std::string_view reason);

/// Refuses a request before any content is asked for.
std::optional<Response> refuse_upload(const UploadSite& site, const Request& request);

/// The answer for a file that has been written.
Response stored_response(const UploadResult& result, const std::string& url);

/// Reports whether resumable uploads answer a request whose path is `path` below the folder.
bool is_for_resumable(const Request& request, std::string_view path) noexcept;

/// Begins, continues, asks for or removes a resumable upload.
///
/// RFC:       draft-ietf-httpbis-resumable-upload-12, https://tus.io/protocols/resumable-upload
Task<Response> answer_resumable(std::shared_ptr<const UploadSite> site, Request& request,
                                std::string_view path);

}  // namespace skua::files
