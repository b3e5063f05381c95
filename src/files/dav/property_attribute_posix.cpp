// SPDX-License-Identifier: MIT
// The extended attribute that holds the properties of a file. Linux only: other systems have other
// calls for them.
#include "files/dav/dead_properties.hpp"

#if defined(__linux__)

#include <sys/xattr.h>

#include <cerrno>

namespace skua::files {
namespace {

constexpr const char* attribute = "user.skua.properties";

}  // namespace

std::string read_property_attribute(int file) {
  std::string text(max_property_bytes, '\0');
  const ssize_t size_bytes = ::fgetxattr(file, attribute, text.data(), text.size());
  text.resize(size_bytes > 0 ? static_cast<std::size_t>(size_bytes) : 0);
  return text;
}

Result<void> write_property_attribute(int file, std::string_view text) {
  if (text.empty()) {
    if (::fremovexattr(file, attribute) == 0 || errno == ENODATA || errno == EOPNOTSUPP) return {};
  } else {
    if (::fsetxattr(file, attribute, text.data(), text.size(), 0) == 0) return {};
  }
  return Error::from_system(errno, "extended attribute");
}

}  // namespace skua::files

#else

namespace skua::files {

std::string read_property_attribute(int) { return {}; }

Result<void> write_property_attribute(int, std::string_view text) {
  if (text.empty()) return {};
  return Error(Errc::Unsupported, "extended attribute");
}

}  // namespace skua::files

#endif
