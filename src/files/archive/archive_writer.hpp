// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "skua/error.hpp"

namespace skua::files {

/// A file or folder in an archive.
struct ArchiveEntry {
  std::string_view name{};       ///< a relative path; that of a folder ends in a slash
  std::int64_t modified = 0;     ///< in seconds since 1970
  std::uint64_t size_bytes = 0;  ///< of the content; 0 for a folder

  [[nodiscard]] bool is_folder() const noexcept { return name.ends_with('/'); }
};

/// Formats an archive. Each call appends to `out`, which need not be the same string each time.
class ArchiveWriter {
 public:
  ArchiveWriter() = default;
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;
  virtual ~ArchiveWriter() = default;

  /// Adds an entry with all of its content.
  virtual Result<void> add(const ArchiveEntry& entry, std::string_view content,
                           std::string& out) = 0;
  /// Begins an entry. Its content follows by write(), as much as its size says, then end().
  virtual Result<void> begin(const ArchiveEntry& entry, std::string& out) = 0;
  virtual Result<void> write(std::string_view piece, std::string& out) = 0;
  virtual Result<void> end(std::string& out) = 0;
  /// Ends the archive.
  virtual Result<void> finish(std::string& out) = 0;
};

/// Returns a writer of tar: ustar (POSIX.1-1988) with pax headers (POSIX.1-2001) for what does not
/// fit. Entries have no owner, and the usual permissions.
std::unique_ptr<ArchiveWriter> make_tar_writer();

/// Returns a writer of zip, which is Zip64 where it has to be. Content is deflated if that makes it
/// smaller and this build has zlib. A reader that cannot seek needs no more than the local headers:
/// entries whose sizes follow their content are always in deflate format, which says where it ends.
///
/// Ends with: BodyTooLong if the archive's directory, which is kept in memory, would exceed
///            max_directory_bytes.
std::unique_ptr<ArchiveWriter> make_zip_writer(std::size_t max_directory_bytes = 64U << 20U);

}  // namespace skua::files
