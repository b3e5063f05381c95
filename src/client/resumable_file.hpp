// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "skua/error.hpp"

namespace skua::client {

/// A file that is downloaded in one go or in several: `PATH.part`, and beside it `PATH.part.tag`,
/// which says of what it is a part. It blocks: to be used off the loop.
///
/// Ends with: SystemFailure (EBUSY), from append() and start(), where another one writes that part.
class ResumableFile {
 public:
  explicit ResumableFile(const std::string& path);
  ResumableFile(const ResumableFile&) = delete;
  ResumableFile& operator=(const ResumableFile&) = delete;
  /// What is there stays there, to be gone on with.
  ~ResumableFile();

  /// Looks for an earlier part. There is none where it is not known of what it is one.
  Result<void> look();
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  /// An entity tag or a date, for If-Range.
  [[nodiscard]] const std::string& validator() const noexcept { return validator_; }

  /// Goes on behind the part that is there.
  Result<void> append() noexcept;
  /// Begins anew. An empty validator: the part cannot be gone on with.
  Result<void> start(std::string_view validator);
  Result<void> write(std::string_view text) noexcept;
  /// Gives the file its name, in place of any that has it.
  Result<void> keep() noexcept;
  /// There is no part any more.
  void remove() noexcept;

 private:
  Result<std::uint64_t> open() noexcept;

  const std::string path_;
  const std::string part_;
  const std::string tag_;
  std::string validator_;
  std::uint64_t size_bytes_ = 0;
  int descriptor_ = -1;
};

}  // namespace skua::client
