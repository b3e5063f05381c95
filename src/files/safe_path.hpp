// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "skua/error.hpp"

struct stat;

namespace skua::files {

/// Which names a file system takes as they are.
enum class NameRules : std::uint8_t {
  /// Any but `.`, `..`, and those with a slash, a backslash (proxies take it for a slash) or a
  /// control byte.
  Posix,
  Windows  ///< nor those that Windows reads as more than a name: `a:b`, `CON`, `end.`
};
#if defined(_WIN32)
inline constexpr NameRules native_names = NameRules::Windows;
#else
inline constexpr NameRules native_names = NameRules::Posix;
#endif

/// What may be reached below a root directory.
struct PathPolicy {
  bool dotfiles = false;  ///< names that begin with a dot; `/.well-known/` always may
  /// Those that lead to what could be asked for below the root; others are never followed.
  bool follow_symlinks = true;
  NameRules names = native_names;
};

/// Whether a name may stand between two slashes of a served path.
bool is_safe_name(std::string_view name, NameRules rules = native_names) noexcept;

/// Whether a canonical path (decoded, `/`-led) may be looked up under this policy.
bool is_safe_path(std::string_view path, const PathPolicy& policy) noexcept;

/// An open file descriptor; closed with its owner.
class Descriptor {
 public:
  Descriptor() noexcept = default;
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  [[nodiscard]] int number() const noexcept { return number_; }
  /// Gives the descriptor away: closing it is the caller's business now.
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }
  explicit operator bool() const noexcept { return number_ >= 0; }

 private:
  int number_ = -1;
};

enum class FileKind : std::uint8_t { Regular, Directory };

/// What tells one state of a file from another. Times count nanoseconds since 1970.
struct FileStat {
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;  ///< of the inode: also renames, links and restored times
  std::uint64_t inode = 0;
  std::uint64_t device = 0;
  FileKind kind = FileKind::Regular;

  friend bool operator==(const FileStat&, const FileStat&) noexcept = default;
};

struct OpenFile {
  Descriptor descriptor;
  FileStat stat{};
};

/// The system's record of a file in our terms.
/// Ends with: NotFound for what is neither a regular file nor a directory.
Result<FileStat> convert(const struct stat& state) noexcept;

/// The present state of an open file.
/// Ends with: NotFound for what is neither a regular file nor a directory.
Result<FileStat> stat_of(int descriptor) noexcept;

/// A directory whose contents are served, held open: renaming it away changes nothing.
///
/// `const` members may be called from any thread.
class Root {
 public:
  /// How a path is resolved below the root.
  enum class Resolver : std::uint8_t {
    Auto,       ///< Kernel where it is there, otherwise Components
    Kernel,     ///< openat2 with RESOLVE_BENEATH (Linux 5.6)
    Components  ///< name by name with O_NOFOLLOW: refuses every symbolic link
  };

  /// Ends with: NotFound, PermissionDenied, or Unsupported for a resolver that is not there.
  static Result<Root> open(const std::string& directory, PathPolicy policy = {},
                           Resolver resolver = Resolver::Auto);

  /// Opens a regular file or a directory by its canonical path; never blocks, never leaves the
  /// root.
  ///
  /// Ends with: NotFound for whatever the policy or the guard refuses, PermissionDenied,
  ///            TooManyOpenFiles, SystemFailure.
  [[nodiscard]] Result<OpenFile> find(std::string_view path) const;

  [[nodiscard]] const PathPolicy& policy() const noexcept { return policy_; }
  [[nodiscard]] Resolver resolver() const noexcept { return resolver_; }

 private:
  Root(Descriptor directory, PathPolicy policy, Resolver resolver) noexcept
      : directory_(std::move(directory)), policy_(policy), resolver_(resolver) {}
  // A descriptor, or -1 and errno.
  [[nodiscard]] int open_file(std::string_view path) const;

  Descriptor directory_;
  PathPolicy policy_;
  Resolver resolver_;
};

}  // namespace skua::files
