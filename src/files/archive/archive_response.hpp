// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "files/safe_path.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua::files {

/// The archives of a site that may be made at a time: each takes some memory, and waits for its
/// client.
class ArchivePlaces final {
 public:
  explicit ArchivePlaces(std::size_t most)
      : most_(most), taken_(std::make_shared<std::atomic<std::size_t>>(0)) {}

  [[nodiscard]] bool are_any() const noexcept { return most_ != 0; }
  /// Returns a place, which is free again when it is destroyed; nullptr if there is none.
  [[nodiscard]] std::shared_ptr<const void> take() const;

 private:
  std::size_t most_;
  std::shared_ptr<std::atomic<std::size_t>> taken_;  // shared with the places
};

/// Answers `?archive=zip`, `tar` or `tar.gz` for a folder; nullopt for other requests.
///
/// `path` is the folder's canonical path with a trailing slash.
std::optional<Response> answer_archive(const Request& request,
                                       const std::shared_ptr<const Root>& root,
                                       std::string_view path, const ArchivePlaces& places);

/// The paragraph of a listing that links to the archives of its folder.
std::string_view archive_links() noexcept;

}  // namespace skua::files
