// SPDX-License-Identifier: MIT
#include "serve/watch/burst.hpp"

#include <iterator>
#include <string_view>
#include <utility>

#include "base/ascii.hpp"

namespace skua::cli {
namespace {

bool is_style_sheet(std::string_view path) noexcept {
  constexpr std::string_view extension = ".css";
  return path.size() > extension.size() &&
         ascii::equals_ignoring_case(path.substr(path.size() - extension.size()), extension);
}

}  // namespace

void Burst::add(std::string path, Event event) {
  ++count_;
  if (names_.size() >= max_names) {
    names_.clear();
    add_unknown();
  }
  const auto [entry, is_first] = names_.try_emplace(std::move(path));
  Name& name = entry->second;
  if (is_first) name.is_new = event == Event::Begun || event == Event::Appeared;
  name.is_gone = event == Event::Vanished;
  if (event != Event::Begun) name.has_changed = true;
}

Change Burst::take() {
  Change change = std::exchange(is_unknown_, false) ? Change::Pages : Change::None;
  for (auto entry = names_.begin(); entry != names_.end();) {
    const auto& [path, name] = *entry;
    const bool is_begun = name.is_new && !name.has_changed;
    if (name.has_changed && !(name.is_new && name.is_gone)) {
      if (!is_style_sheet(path)) change = Change::Pages;
      if (change == Change::None) change = Change::Styles;
    }
    entry = is_begun ? std::next(entry) : names_.erase(entry);
  }
  return change;
}

}  // namespace skua::cli
