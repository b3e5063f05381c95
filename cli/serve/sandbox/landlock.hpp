// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "skua/error.hpp"

namespace skua::cli {

/// The files and ports that a process keeps access to.
struct KeptAccess {
  std::vector<std::string> listed{};       ///< folders to read and list, with all below
  std::vector<std::string> readable{};     ///< files to read, and folders to read the files below
  std::vector<std::string> removable{};    ///< folders to remove files from, with all below
  std::vector<std::uint16_t> connected{};  ///< TCP ports to connect to, of all machines
  std::vector<std::string> writable{};     ///< folders to make, write and remove files in, likewise
  std::vector<std::string> changeable{};   ///< likewise, and to make, move and remove folders in
  std::vector<std::string> logged{};       ///< folders to make and write files in, likewise
};

/// Takes from this thread, and the threads and processes that it starts, the access to all other
/// files, and, if the kernel can, to TCP ports and other processes. Files and sockets that are open
/// stay usable. Needs forbid_new_privileges().
///
/// Returns the version of Landlock's interface; TCP needs 4, other processes 6.
/// Ends with: Unsupported on another system or an old kernel; NotFound.
Result<int> restrict_access(const KeptAccess& access);

/// The first version of Landlock that restricts TCP.
inline constexpr int landlock_with_tcp = 4;

}  // namespace skua::cli
