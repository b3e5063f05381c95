// SPDX-License-Identifier: MIT
// In: a pattern with one star, and paths. Out: what the star stands for. With a single star, a path
// matches in one way only: by its beginning and its end.
#include "serve/site/star_path.hpp"

#include <stdexcept>
#include <utility>

namespace skua::cli {

StarPath::StarPath(std::string text) : text_(std::move(text)), star_(text_.find('*')) {
  if (has_star() && text_.find('*', star_ + 1) != text_.npos) {
    throw std::invalid_argument("'" + text_ + "' has more than one *");
  }
}

std::string_view StarPath::before() const noexcept {
  return std::string_view(text_).substr(0, star_);
}

std::string_view StarPath::after() const noexcept {
  return has_star() ? std::string_view(text_).substr(star_ + 1) : std::string_view();
}

std::optional<std::string_view> StarPath::match(std::string_view path) const noexcept {
  if (!has_star()) return path == text_ ? std::optional(std::string_view()) : std::nullopt;
  const std::size_t fixed = text_.size() - 1;
  if (path.size() < fixed || !path.starts_with(before()) || !path.ends_with(after())) {
    return std::nullopt;
  }
  return path.substr(star_, path.size() - fixed);
}

std::string StarPath::fill(std::string_view star) const {
  return has_star() ? std::string(before()).append(star).append(after()) : text_;
}

// Two patterns with a star overlap if one of their beginnings starts with the other, and likewise
// their ends: the stars take the rest.
bool StarPath::overlaps(const StarPath& other) const noexcept {
  if (!has_star()) return other.match(text_).has_value();
  if (!other.has_star()) return match(other.text_).has_value();
  const bool begins = before().starts_with(other.before()) || other.before().starts_with(before());
  const bool ends = after().ends_with(other.after()) || other.after().ends_with(after());
  return begins && ends;
}

}  // namespace skua::cli
