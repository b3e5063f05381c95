// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "skua/error.hpp"

struct stat;

namespace skua::files {

/// The file names that are safe on a platform.
enum class NameRules : std::uint8_t {
  /// All but `.`, `..` and names with a slash, a backslash (some proxies read it as a slash) or a
  /// control byte.
  Posix,
  Windows  ///< also excludes names that are special on Windows: `a:b`, `CON`, `end.`
};
#if defined(_WIN32)
inline constexpr NameRules native_names = NameRules::Windows;
#else
inline constexpr NameRules native_names = NameRules::Posix;
#endif

/// Controls which files below a root can be reached.
struct PathPolicy {
  bool dotfiles = false;  ///< allow names that begin with a dot; `/.well-known/` is always allowed
  /// Follow links whose target is itself reachable below the root; others are never followed.
  bool follow_symlinks = true;
  NameRules names = native_names;
};

/// Reports whether a name may be a segment of a served path.
bool is_safe_name(std::string_view name, NameRules rules = native_names) noexcept;

/// Reports whether a canonical path (decoded, with a leading `/`) may be looked up under `policy`.
bool is_safe_path(std::string_view path, const PathPolicy& policy) noexcept;

/// An owned file descriptor, closed on destruction.
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
  /// Releases ownership: the caller must close the descriptor.
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }
  explicit operator bool() const noexcept { return number_ >= 0; }

 private:
  int number_ = -1;
};

enum class FileKind : std::uint8_t { Regular, Directory };

/// The metadata that identifies a state of a file. Times are in nanoseconds since 1970.
struct FileStat {
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;  ///< inode change time: covers renames, links and restored times too
  std::uint64_t inode = 0;
  std::uint64_t device = 0;
  FileKind kind = FileKind::Regular;

  friend bool operator==(const FileStat&, const FileStat&) noexcept = default;
};

struct OpenFile {
  Descriptor descriptor;
  FileStat stat{};
};

/// Converts the system's file metadata.
/// Ends with: NotFound for anything but a regular file or a directory.
Result<FileStat> convert(const struct stat& state) noexcept;

/// Returns the current state of an open file.
/// Ends with: NotFound for anything but a regular file or a directory.
Result<FileStat> stat_of(int descriptor) noexcept;

/// A served directory. It is held open, so renaming it has no effect.
///
/// `const` members may be called from any thread.
class Root {
 public:
  /// The way to resolve paths below the root.
  enum class Resolver : std::uint8_t {
    Auto,       ///< Kernel if available, otherwise Components
    Kernel,     ///< openat2 with RESOLVE_BENEATH (Linux 5.6)
    Components  ///< segment by segment with O_NOFOLLOW: refuses all symbolic links
  };

  /// Ends with: NotFound, PermissionDenied, or Unsupported for an unavailable resolver.
  static Result<Root> open(const std::string& directory, PathPolicy policy = {},
                           Resolver resolver = Resolver::Auto);

  /// Opens a regular file or directory by its canonical path; never blocks, never leaves the root.
  ///
  /// Ends with: NotFound, also for anything that the policy or the resolver refuses;
  ///            PermissionDenied, TooManyOpenFiles, SystemFailure.
  [[nodiscard]] Result<OpenFile> find(std::string_view path) const;

  [[nodiscard]] const PathPolicy& policy() const noexcept { return policy_; }
  [[nodiscard]] Resolver resolver() const noexcept { return resolver_; }

 private:
  Root(Descriptor directory, PathPolicy policy, Resolver resolver) noexcept
      : directory_(std::move(directory)), policy_(policy), resolver_(resolver) {}
  // Returns a descriptor, or -1 and sets errno.
  [[nodiscard]] int open_file(std::string_view path) const;

  Descriptor directory_;
  PathPolicy policy_;
  Resolver resolver_;
};

}  // namespace skua::files
