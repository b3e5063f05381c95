// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/socket.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"

namespace skua::cli {

/// What the bytes of a download belong to.
struct PartOrigin {
  std::string url{};        ///< without a name and a password
  std::string validator{};  ///< a strong ETag, or a date, for If-Range; empty: it cannot go on
  std::optional<std::uint64_t> total_bytes{};

  bool operator==(const PartOrigin&) const noexcept = default;
};

/// A file while it is downloaded: `.NAME.part` in the folder where NAME is to be, and beside it
/// `.NAME.part.origin`, which says what it is a part of. It blocks.
///
/// Lifetime:  destroyed before it has its name, it leaves both files if the download can be
/// resumed;
///            else it removes them.
class PartFile final {
 public:
  /// Opens what is there, or makes it; one that another program is writing is left alone, and the
  /// next free number is put behind NAME.
  ///
  /// Ends with: what the file system says, with a text.
  static Result<PartFile, Problem> open(const std::string& path);
  PartFile(PartFile&& other) noexcept = default;
  PartFile& operator=(PartFile&&) = delete;
  ~PartFile();

  /// What is there from an earlier time; null where that is not known, or nothing is there.
  [[nodiscard]] const PartOrigin* origin() const noexcept SKUA_LIFETIMEBOUND {
    return origin_ ? &*origin_ : nullptr;
  }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  [[nodiscard]] const std::string& path() const noexcept { return part_path_; }
  /// Whether its bytes are worth keeping: there are some, and a server can be asked for the rest.
  [[nodiscard]] bool can_be_resumed() const noexcept {
    return file_ && size_bytes_ != 0 && origin_ && !origin_->validator.empty();
  }

  /// Throws all bytes away and says where the next come from.
  Result<void, Problem> restart(const PartOrigin& origin);
  Result<void, Problem> write(std::string_view piece);
  /// Gives it a name, in place of any file that has it.
  Result<std::string, Problem> keep_as(const std::string& path);
  /// Gives it this name or, where a file has it, the first of NAME-1, NAME-2, ... that none has;
  /// returns which.
  Result<std::string, Problem> keep_beside(const std::string& path);

 private:
  PartFile(std::string part_path, net::Socket file);
  void read_origin();
  [[nodiscard]] bool is_stored() const noexcept;
  [[nodiscard]] std::string origin_path() const { return part_path_ + ".origin"; }
  [[nodiscard]] Problem could_not(const char* step, const std::string& path) const;

  std::string part_path_;
  net::Socket file_;
  std::optional<PartOrigin> origin_{};
  std::uint64_t size_bytes_ = 0;
  bool is_begun_ = false;  // by us: what others left is not ours to remove
};

}  // namespace skua::cli
