// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "async/semaphore.hpp"
#include "files/safe_path.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua::files {

/// Answers `?archive=zip`, `tar` or `tar.gz` for a folder; nullopt for other requests.
///
/// `path` is the folder's canonical path with a trailing slash. `permits` are for archives that are
/// being made: each takes some memory, and waits for its client.
std::optional<Response> answer_archive(const Request& request,
                                       const std::shared_ptr<const Root>& root,
                                       std::string_view path, const async::Semaphore& permits);

/// The paragraph of a listing that links to the archives of its folder.
std::string_view archive_links() noexcept;

}  // namespace skua::files
