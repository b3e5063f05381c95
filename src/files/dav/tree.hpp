// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files/access/tree_access.hpp"
#include "files/dav/multistatus.hpp"
#include "files/dav/tree_folder.hpp"
#include "files/safe_path.hpp"
#include "skua/error.hpp"
#include "skua/status.hpp"
#include "skua/webdav_options.hpp"

/// Files, and folders with all that is in them. Links in a tree are removed as links, and copied as
/// the files that they lead to, as far as those are below the root. All calls block.
namespace skua::files {

/// Returns the status for a file system error.
Status tree_status(const Error& error) noexcept;

/// Reports whether names can move from one folder to the other: not to another file system, nor in
/// the sandbox of some systems.
bool can_move(const TreeFolder& from, const TreeFolder& to);

/// Returns how many folders are inside each other at a path below the root, which has no slash at
/// its end: one for `/a`.
std::size_t depth_of_path(std::string_view path) noexcept;

/// Reports whether a folder has at most so many folders inside each other, itself among them.
bool is_at_most(const TreeFolder& folder, std::size_t depth);

/// One request for trees: its limits, and what has gone wrong with it.
class TreeWork final {
 public:
  /// The purpose of the work. `Move` copies a tree that is removed next: all of it or nothing.
  enum class Purpose : std::uint8_t { Copy, Move, Remove };

  /// Root, options and access outlive it.
  TreeWork(const Root& root SKUA_LIFETIMEBOUND, const WebDavOptions& options SKUA_LIFETIMEBOUND,
           const TreeAccess& access SKUA_LIFETIMEBOUND, Purpose purpose)
      : root_(root), options_(options), access_(access), purpose_(purpose) {}

  /// Returns why a tree cannot be copied or removed as a whole, before anything is changed: 507 if
  /// it exceeds an option; 403 if names are to be removed that clients cannot see, or that other
  /// guards or routes protect, or if they protect what is to be written; nullopt if it can.
  ///
  /// `path` is that of the folder, and `to_path` that of its copy, with a slash at their ends;
  /// `to_path` is empty if there is none.
  std::optional<Status> measure(const TreeFolder& folder, const std::string& path,
                                const std::string& to_path, std::size_t depth = 1);

  /// Removes a file, a link or a folder with all that is in it; `path` is that of its URL, which
  /// ends with a slash for a folder. Reports whether nothing is left of it.
  bool remove(const TreeFolder& parent, const std::string& name, const std::string& path,
              std::size_t depth = 0);

  /// Copies an open folder to a new one. Reports whether the new one was made. `path` is that of
  /// the new URL.
  bool copy_folder(const TreeFolder& from, const std::string& from_path, const TreeFolder& parent,
                   const std::string& name, const std::string& path, bool is_deep,
                   std::size_t depth = 0);

  /// Copies an open file. `replaces`: any file that has the name.
  Result<void> copy_file(const disk::Descriptor& from, const TreeFolder& parent,
                         const std::string& name, bool replaces, bool syncs);

  /// Returns what could not be copied or removed; at most a thousand of it.
  [[nodiscard]] const std::vector<ResourceStatus>& failures() const noexcept { return failures_; }

 private:
  void fail(const std::string& path, Status status);
  void fail(const std::string& path, const Error& error) { fail(path, tree_status(error)); }
  [[nodiscard]] bool has_room(const std::string& path, std::size_t depth);
  [[nodiscard]] bool may_take(const std::string& path) const;
  bool remove_folder(const TreeFolder& parent, const std::string& name, const std::string& path,
                     std::size_t depth);
  void copy_entry(const TreeFolder& from, const std::string& from_path, const std::string& name,
                  const TreeFolder& to, const std::string& to_path, std::size_t depth);
  Result<void> copy_content(const disk::Descriptor& from, const disk::Descriptor& to);

  const Root& root_;
  const WebDavOptions& options_;
  const TreeAccess& access_;
  Purpose purpose_;
  std::size_t entries_ = 0;
  std::uint64_t copied_bytes_ = 0;
  std::vector<ResourceStatus> failures_;
};

}  // namespace skua::files
