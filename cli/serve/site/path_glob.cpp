// SPDX-License-Identifier: MIT
// In: a glob and a path. Out: whether they match. All places in the glob that the path can have
// reached are followed at once, so no path takes long.
#include "serve/site/path_glob.hpp"

#include <bitset>
#include <stdexcept>
#include <utility>

#include "base/ascii.hpp"

namespace skua::cli {
namespace {

// A bit for each place between two characters of the glob.
using Places = std::bitset<PathGlob::max_bytes + 1>;

bool is_star(std::string_view glob, std::size_t place) noexcept {
  return place < glob.size() && glob[place] == '*';
}

// A star also stands for no text, so its end is reached with it.
void skip_stars(std::string_view glob, Places& reached) noexcept {
  for (std::size_t i = 0; i < glob.size(); ++i) {
    if (reached[i] && glob[i] == '*') reached.set(i + 1);
  }
}

// A star takes a slash if another one follows it.
Places advance(std::string_view glob, const Places& reached, char c) noexcept {
  Places next;
  for (std::size_t i = 0; i < glob.size(); ++i) {
    if (!reached[i]) continue;
    if (glob[i] != '*') {
      if (glob[i] == c) next.set(i + 1);
    } else if (c != '/' || is_star(glob, i + 1)) {
      next.set(i);
    }
  }
  return next;
}

bool matches(std::string_view glob, std::string_view text) noexcept {
  Places reached;
  reached.set(0);
  skip_stars(glob, reached);
  for (const char c : text) {
    reached = advance(glob, reached, c);
    if (reached.none()) return false;
    skip_stars(glob, reached);
  }
  return reached[glob.size()];
}

}  // namespace

PathGlob::PathGlob(std::string text) : text_(std::move(text)) {
  const auto refuse = [](const std::string& why) {
    throw std::invalid_argument("the glob " + why);
  };
  if (text_.empty()) refuse("is empty");
  if (text_.size() > max_bytes) refuse("is longer than 256 bytes");
  for (const char c : text_) {
    if (!ascii::is_field_value(c)) refuse("contains a control character");
  }
  const bool has_slash = text_.find('/') != text_.npos;
  if (has_slash && text_.front() != '/') {
    refuse("'" + text_ + "' must start with a slash, as it contains one");
  }
}

bool PathGlob::matches(std::string_view path) const noexcept {
  if (text_.front() != '/') path.remove_prefix(path.rfind('/') + 1);
  return cli::matches(text_, path);
}

}  // namespace skua::cli
