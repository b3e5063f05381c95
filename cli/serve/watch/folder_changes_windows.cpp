// SPDX-License-Identifier: MIT
#include <utility>

#include "serve/watch/folder_changes.hpp"
#include "serve/watch/polled_folder.hpp"

namespace skua::cli {

struct FolderChanges::Impl {
  PolledFolder folder;
};

FolderChanges::FolderChanges(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

FolderChanges::~FolderChanges() = default;

Result<std::unique_ptr<FolderChanges>, Problem> FolderChanges::open(
    const std::string& folder, const files::PathPolicy& policy) {
  std::unique_ptr<Impl> impl(new Impl{PolledFolder(folder, policy)});
  return std::unique_ptr<FolderChanges>(new FolderChanges(std::move(impl)));
}

std::string FolderChanges::text() const { return impl_->folder.text(); }

bool FolderChanges::wait(Burst& burst, std::chrono::milliseconds patience) {
  return impl_->folder.wait(burst, patience);
}

void FolderChanges::stop() noexcept { impl_->folder.stop(); }

}  // namespace skua::cli
