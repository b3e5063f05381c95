// SPDX-License-Identifier: MIT
#include "serve/watch/page_tag.hpp"

#include "base/ascii.hpp"

namespace skua::cli {
namespace {

constexpr std::string_view white_space = " \t\r\n\f";

// Removes `</name>` and the white space around it from the end; reports whether it was there.
bool remove_end_tag(std::string_view& text, std::string_view name) noexcept {
  std::string_view rest = text.substr(0, text.find_last_not_of(white_space) + 1);
  if (!rest.ends_with('>')) return false;
  rest.remove_suffix(1);
  rest = rest.substr(0, rest.find_last_not_of(white_space) + 1);
  if (rest.size() < name.size() + 2) return false;
  const std::string_view tag = rest.substr(rest.size() - name.size() - 2);
  if (!tag.starts_with("</") || !ascii::equals_ignoring_case(tag.substr(2), name)) return false;
  text = rest.substr(0, rest.size() - tag.size());
  return true;
}

}  // namespace

std::size_t place_of_tag(std::string_view tail) noexcept {
  std::string_view rest = tail;
  remove_end_tag(rest, "html");
  return remove_end_tag(rest, "body") ? rest.size() : tail.size();
}

std::string encode_for_page(std::string_view text, std::string_view head, bool is_size_even) {
  const bool is_little = head.starts_with("\xFF\xFE");
  if (!is_little && !head.starts_with("\xFE\xFF")) return std::string(text);
  std::string units;
  if (!is_size_even) return units;
  for (const char c : text) {
    if (is_little) units += c;
    units += '\0';
    if (!is_little) units += c;
  }
  return units;
}

}  // namespace skua::cli
