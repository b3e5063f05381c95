// SPDX-License-Identifier: MIT
// Saves a cookie jar to a file atomically, and loads it from one.
#include <array>
#include <cerrno>

#include "files/safe_path.hpp"
#include "files/save.hpp"
#include "skua/cookie_jar.hpp"

namespace skua {
namespace {

constexpr unsigned owner_only = 0600;  // cookies are credentials
constexpr std::size_t max_bytes = 16_MiB;

Result<std::string> read_all(const std::string& path) {
  const files::Descriptor file(disk::open(path.c_str(), O_RDONLY | disk::close_on_exec));
  if (!file) return Error::from_system(errno, "open");
  std::string text;
  std::array<char, 16_KiB> piece;
  while (true) {
    const auto count = disk::read(file.number(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_system(errno, "read");
    if (count == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(count));
    if (text.size() > max_bytes) return Error(Errc::BodyTooLong, "cookies.txt");
  }
}

Result<void> write_all(const std::string& path, std::string_view text) {
  const Result<disk::FileStat> there = disk::stat_of(path);
  // keep_as() would replace a device, too.
  if (there && there->kind != disk::FileKind::Regular) {
    return Error(Errc::Unsupported, "cookies.txt: not a plain file");
  }
  files::PartialFile file;
  if (auto created = file.create(path, owner_only); !created) return created;
  if (auto written = file.write(text); !written) return written;
  return file.keep_as(path);
}

}  // namespace

Result<void, Problem> CookieJar::save(const std::string& path, std::chrono::sys_seconds now) const {
  const Result<void> written = write_all(path, to_netscape(now));
  if (!written) return files::could_not("save cookies in", path, written.error());
  return {};
}

Result<CookieFileReport, Problem> CookieJar::load(const std::string& path,
                                                  std::chrono::sys_seconds now) {
  const Result<std::string> text = read_all(path);
  if (!text) return files::could_not("load cookies from", path, text.error());
  return add_netscape(*text, now);
}

}  // namespace skua
