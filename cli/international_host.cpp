// SPDX-License-Identifier: MIT
// A thin wrapper of libidn2. Its result is checked again: compatibility characters such as a
// fullwidth slash become ASCII ones, which must not end the host in a URL.
#include "international_host.hpp"

#include <algorithm>
#include <cstddef>

#if defined(SKUA_HAS_IDN2)
#include <idn2.h>
#include <memory>
#endif

#include "base/ascii.hpp"

namespace skua::cli {
namespace {

Problem malformed(std::string why) { return {.error = Errc::MalformedUrl, .text = std::move(why)}; }

/// The host name in a URL, without user information and port.
struct HostPlace {
  std::size_t begin = 0;
  std::size_t size_bytes = 0;
};

HostPlace place_of_host(std::string_view url) noexcept {
  const std::size_t mark = url.find("://");
  if (mark == url.npos) return {};
  std::size_t begin = mark + 3;
  const std::size_t end = std::min(url.find_first_of("/\\?#", begin), url.size());
  const std::size_t at = url.substr(begin, end - begin).rfind('@');
  if (at != url.npos) begin += at + 1;
  const std::string_view place = url.substr(begin, end - begin);
  if (place.starts_with('[')) return {};
  return {begin, std::min(place.find(':'), place.size())};
}

bool is_ascii(std::string_view text) noexcept {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

#if defined(SKUA_HAS_IDN2)

bool is_host_character(char c) noexcept {
  return ascii::is(c, ascii::Alpha | ascii::Digit) || c == '-' || c == '.' || c == '_';
}

Result<std::string, Problem> to_ascii(const std::string& name) {
  if (name.find('\0') != name.npos) return malformed("the host name contains a NUL");
  char* made = nullptr;
  const int failure = ::idn2_to_ascii_8z(name.c_str(), &made, IDN2_NONTRANSITIONAL);
  const std::unique_ptr<char, decltype(&::idn2_free)> owner(made, ::idn2_free);
  if (failure != IDN2_OK) {
    return malformed(std::string("the host name cannot be international: ") +
                     ::idn2_strerror(failure));
  }
  std::string converted(made);
  if (!std::ranges::all_of(converted, is_host_character)) {
    return malformed("the host name has a character that stands for one which hosts cannot have");
  }
  return converted;
}

#else

Result<std::string, Problem> to_ascii(const std::string& /*name*/) {
  return malformed("write an international host name in ASCII form (xn--...)");
}

#endif

}  // namespace

bool has_international_hosts() noexcept {
#if defined(SKUA_HAS_IDN2)
  return true;
#else
  return false;
#endif
}

Result<std::string, Problem> with_ascii_host(std::string_view url) {
  const HostPlace place = place_of_host(url);
  const std::string name(url.substr(place.begin, place.size_bytes));
  if (is_ascii(name)) return std::string(url);
  const Result<std::string, Problem> converted = to_ascii(name);
  if (!converted) return converted.error();
  return std::string(url).replace(place.begin, place.size_bytes, *converted);
}

}  // namespace skua::cli
