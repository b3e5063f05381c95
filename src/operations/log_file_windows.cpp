// SPDX-License-Identifier: MIT
// Files may be renamed while they are open, but no signal asks to open them again.
#include "operations/log_file.hpp"

#include <io.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace skua::operations {
namespace {

constexpr int log_mode = 0640;

}  // namespace

Result<LogFile, Problem> LogFile::open(const std::string& path,
                                       const std::optional<FileOwner>& owner) {
  LogFile made;
  made.name_ = path;
  if (path == "-") {
    made.name_ = "standard output";
    made.file_ = disk::Descriptor(::_dup(::_fileno(stdout)));
    return made;
  }
  made.file_name_ = path;
  if (auto opened = made.open_by_name(owner); !opened) {
    const int why = opened.error().system_code();
    return Problem{opened.error(),
                   "cannot open " + path + ": " + std::generic_category().message(why)};
  }
  return made;
}

Result<void> LogFile::reopen() { return file_name_.empty() ? Result<void>() : open_by_name({}); }

Result<void> LogFile::open_by_name(const std::optional<FileOwner>& /*owner*/) {
  disk::Descriptor opened(disk::open(file_name_.c_str(), disk::for_appending | O_CREAT, log_mode));
  if (!opened) return Error::from_system(errno, "the access log");
  file_ = std::move(opened);
  return {};
}

void LogFile::block_signals() noexcept {}  // Windows has no such signals

Result<std::size_t> LogFile::write_some(std::string_view bytes,
                                        std::chrono::milliseconds /*patience*/) {
  const std::ptrdiff_t count = disk::write(file_.number(), bytes.data(), bytes.size());
  if (count > 0) return static_cast<std::size_t>(count);
  return Error::from_system(count < 0 ? errno : EIO, "the access log");
}

bool LogFile::is_terminal() const noexcept { return ::_isatty(file_.number()) != 0; }

}  // namespace skua::operations
