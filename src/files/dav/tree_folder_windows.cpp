// SPDX-License-Identifier: MIT
// WebDAV is not for Windows yet: WebDavHandler::open() says so, and none of these is called.
#include "files/dav/tree_folder.hpp"

namespace skua::files {
namespace {

constexpr Error missing(Errc::Unsupported, "WebDAV");

}  // namespace

bool has_tree_folders() noexcept { return false; }

Result<disk::FileStat> TreeFolder::stat(const std::string&) const { return missing; }
Result<TreeFolder> TreeFolder::open_folder(const std::string&) const { return missing; }
Result<disk::Descriptor> TreeFolder::open_file(const std::string&) const { return missing; }
Result<disk::Descriptor> TreeFolder::create_file(const std::string&) const { return missing; }
Result<void> TreeFolder::make_folder(const std::string&) const { return missing; }
Result<void> TreeFolder::remove_file(const std::string&) const { return missing; }
Result<void> TreeFolder::remove_folder(const std::string&) const { return missing; }
Result<void> TreeFolder::move(const std::string&, const TreeFolder&, const std::string&) const {
  return missing;
}
Result<void> TreeFolder::move_beside(const std::string&, const TreeFolder&,
                                     const std::string&) const {
  return missing;
}
Result<bool> TreeFolder::is_within(const disk::FileStat&, const disk::FileStat&) const {
  return missing;
}
void TreeFolder::sync() const noexcept {}

void NameReader::Close::operator()(void*) const noexcept {}
Result<NameReader> NameReader::open(const TreeFolder&) { return missing; }
Result<bool> NameReader::read(std::vector<std::string>&, std::size_t) { return missing; }

}  // namespace skua::files
