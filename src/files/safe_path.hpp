// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/disk.hpp"
#include "skua/error.hpp"

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
  bool unfinished = false;  ///< allow the temporary names of uploads
  NameRules names = native_names;
};

/// The beginning of the temporary names of uploads, which nobody else may reach.
inline constexpr std::string_view unfinished_prefix = ".skua-upload-";

/// Reports whether a file may be an upload that is not finished. Letter case is ignored, as it is
/// by some file systems.
bool is_unfinished(std::string_view name) noexcept;

/// Reports whether a name may be a segment of a served path.
bool is_safe_name(std::string_view name, NameRules rules = native_names) noexcept;

/// Reports whether a canonical path (decoded, with a leading `/`) may be looked up under `policy`.
bool is_safe_path(std::string_view path, const PathPolicy& policy) noexcept;

using disk::Descriptor;
using disk::FileKind;
using disk::FileStat;

struct OpenFile {
  Descriptor descriptor;
  FileStat stat{};
};

/// Returns `could not open the folder dist: it was not found (No such file or directory)`, for a
/// path of the program's.
Problem could_not(const char* step, const std::string& path, Error error);

/// Returns the current state of an open file.
/// Ends with: NotFound for anything but a regular file or a directory.
Result<FileStat> stat_of(int descriptor) noexcept;

/// A served directory. It is held open, so renaming it has no effect until another one has its
/// name, as after `rm -rf dist && build` or `ln -sfn`: on POSIX systems that is served then.
///
/// `const` members may be called from any thread.
class Root {
 public:
  /// The way to resolve paths below the root.
  enum class Resolver : std::uint8_t {
    Auto,    ///< Kernel if available, otherwise Components
    Kernel,  ///< openat2 with RESOLVE_BENEATH (Linux 5.6)
    /// Refuses all symbolic links: opens segment by segment with O_NOFOLLOW, or on Windows compares
    /// the path that was opened with the one that was asked for.
    Components
  };

  /// Ends with: NotFound, PermissionDenied, or Unsupported for an unavailable resolver.
  static Result<Root> open(const std::string& directory, PathPolicy policy = {},
                           Resolver resolver = Resolver::Auto);

  /// Opens a regular file or directory by its canonical path; never blocks, never leaves the root.
  ///
  /// Ends with: NotFound, also for anything that the policy or the resolver refuses;
  ///            PermissionDenied, TooManyOpenFiles, SystemFailure; Overloaded while the directory
  ///            is gone, or if the one that has its name now cannot be opened.
  [[nodiscard]] Result<OpenFile> find(std::string_view path) const;

  /// Sets what is called with a line for the log when the directory was replaced, or is gone.
  /// Before threads share the root.
  void on_replaced(std::function<void(std::string_view line)> tell) {
    name_->tell = std::move(tell);
  }

  [[nodiscard]] const PathPolicy& policy() const noexcept { return policy_; }
  [[nodiscard]] Resolver resolver() const noexcept { return resolver_; }

  /// How often it is checked whether another directory has the name.
  static constexpr std::chrono::milliseconds check_interval{500};

 private:
  // The directory's path, and what is known of it.
  struct Name {
    explicit Name(std::string path_of_it) : path(std::move(path_of_it)) {}
    std::string path;  // absolute; empty: it is not checked
    std::atomic<std::int64_t> next_check_ns{0};
    std::atomic<bool> is_gone{false};
    std::function<void(std::string_view line)> tell{};
  };
  /// The directory that has the name: the open one, another, which has been opened, or none.
  enum class Named : std::uint8_t { Same, Another, None };

  Root(Descriptor directory, PathPolicy policy, Resolver resolver, std::string path)
      : directory_(std::move(directory)),
        policy_(policy),
        resolver_(resolver),
        name_(std::make_unique<Name>(std::move(path))) {}
  // Opens the directory that has the name now. Returns false if there is none to serve.
  [[nodiscard]] bool is_there() const;
  [[nodiscard]] Named follow_name() const;
  void tell_of(Named found, bool was_gone) const noexcept;
  // Returns a descriptor, or -1 and sets errno.
  [[nodiscard]] int open_file(std::string_view path) const;

  Descriptor directory_;
  PathPolicy policy_;
  Resolver resolver_;
  std::unique_ptr<Name> name_;
};

}  // namespace skua::files
