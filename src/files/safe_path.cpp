// SPDX-License-Identifier: MIT
// In: a canonical path. Out: an open file that is guaranteed to lie below the root.
// Two independent guards: names are checked as text before the system sees them, and the system
// resolves them beneath the root, so that no link or concurrent rename leads outside.
#include "files/safe_path.hpp"

#include <cerrno>
#include <cstddef>

#include "base/ascii.hpp"

namespace skua::files {
namespace {

constexpr std::size_t max_name_bytes = 255;
constexpr std::size_t max_path_bytes = 4095;

// Windows opens a device for these names in any folder, whatever follows the first dot.
bool is_device_name(std::string_view name) noexcept {
  std::string_view stem = name.substr(0, name.find('.'));
  while (!stem.empty() && stem.back() == ' ') stem.remove_suffix(1);
  for (const std::string_view device :
       {"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"}) {
    if (ascii::equals_ignoring_case(stem, device)) return true;
  }
  if (stem.size() < 4) return false;
  const std::string_view unit = stem.substr(3);
  if (!ascii::equals_ignoring_case(stem.substr(0, 3), "com") &&
      !ascii::equals_ignoring_case(stem.substr(0, 3), "lpt"))
    return false;
  // COM1 and also COM¹, COM², COM³ (Latin-1 superscripts)
  return (unit.size() == 1 && unit[0] >= '0' && unit[0] <= '9') || unit == "\u00B9" ||
         unit == "\u00B2" || unit == "\u00B3";
}

bool is_windows_name(std::string_view name) noexcept {
  // A colon would name a stream of the file, `a.php::$DATA`, or a drive.
  if (name.find(':') != name.npos) return false;
  // Windows drops trailing dots and spaces: `a.php.` would be `a.php`.
  return name.back() != '.' && name.back() != ' ' && !is_device_name(name);
}

Error not_found(const char* context) noexcept { return {Errc::NotFound, context}; }

// Maps errors for refused or impossible paths to NotFound, so that a peer learns nothing else.
Error open_error(int code) noexcept {
  switch (code) {
    case ELOOP:  // a link that is not followed
    case EXDEV:  // RESOLVE_BENEATH: the path leaves the root
    case ENXIO:  // a socket, or a device without a driver
    case ENODEV:
    case ENAMETOOLONG: return {Errc::NotFound, "open", code};
    default: return Error::from_system(code, "open");
  }
}

}  // namespace

bool is_safe_name(std::string_view name, NameRules rules) noexcept {
  if (name.empty() || name.size() > max_name_bytes || name == "." || name == "..") return false;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || c == '/' || c == '\\') return false;
  }
  return rules == NameRules::Posix || is_windows_name(name);
}

bool is_unfinished(std::string_view name) noexcept {
  return ascii::equals_ignoring_case(name.substr(0, unfinished_prefix.size()), unfinished_prefix);
}

bool is_safe_path(std::string_view path, const PathPolicy& policy) noexcept {
  if (path.empty() || path.front() != '/' || path.size() > max_path_bytes) return false;
  bool first = true;
  for (std::size_t begin = 1; begin < path.size();) {
    const std::size_t slash = path.find('/', begin);
    const std::string_view name = path.substr(begin, slash - begin);
    if (!is_safe_name(name, policy.names)) return false;
    // RFC 8615: /.well-known/ is meant to be public
    const bool is_public =
        name.front() != '.' || policy.dotfiles || (first && name == ".well-known");
    if (!is_public || (!policy.unfinished && is_unfinished(name))) return false;
    first = false;
    if (slash == std::string_view::npos) break;
    begin = slash + 1;
  }
  return true;
}

Problem could_not(const char* step, const std::string& path, Error error) {
  Problem problem{.error = error};
  problem.text.append("could not ").append(step).append(" ").append(path).append(": ");
  problem.text.append(Error(error.code(), "", error.system_code()).message());
  return problem;
}

Result<FileStat> stat_of(int descriptor) noexcept {
  Result<FileStat> stat = disk::stat_of(descriptor);
  if (stat && stat->kind != FileKind::Regular && stat->kind != FileKind::Directory) {
    return not_found("not a regular file");
  }
  return stat;
}

// One thread looks, unless the directory is gone.
bool Root::is_there() const {
  if (name_->path.empty()) return true;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const std::int64_t now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  std::int64_t due_ns = name_->next_check_ns.load(std::memory_order_relaxed);
  if (!name_->is_gone.load(std::memory_order_relaxed)) {
    constexpr std::int64_t interval_ns = std::chrono::nanoseconds(check_interval).count();
    if (now_ns < due_ns) return true;
    const std::int64_t next_ns = now_ns + interval_ns;
    if (!name_->next_check_ns.compare_exchange_strong(due_ns, next_ns)) return true;
  }
  const Named found = follow_name();
  const bool was_gone = name_->is_gone.exchange(found == Named::None);
  tell_of(found, was_gone);
  return found != Named::None;
}

void Root::tell_of(Named found, bool was_gone) const noexcept try {
  if (!name_->tell) return;
  const char* what = nullptr;
  if (found == Named::Another) {
    what = " was replaced: the new folder is served from now on";
  } else if (found == Named::None && !was_gone) {
    what = " is gone, or was replaced and cannot be opened: requests get 503 until it is there";
  } else if (found == Named::Same && was_gone) {
    what = " is there again";
  }
  if (what != nullptr) name_->tell(name_->path + what);
} catch (...) {
  return;
}

Result<OpenFile> Root::find(std::string_view path) const {
  if (!is_safe_path(path, policy_)) return not_found("refused path");
  if (!is_there()) return Error(Errc::Overloaded, "the served folder has been replaced");
  Descriptor file(open_file(path));
  if (!file) return open_error(errno);
  const Result<FileStat> stat = stat_of(file.number());
  if (!stat) return stat.error();
  // `/a.txt/` is not `/a.txt`, however the system treats the trailing slash.
  if (path.back() == '/' && stat->kind != FileKind::Directory) return not_found("not a directory");
  return OpenFile{std::move(file), *stat};
}

}  // namespace skua::files
