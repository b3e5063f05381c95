// SPDX-License-Identifier: MIT
#include "serve/readme/readme.hpp"

#include "base/ascii.hpp"
#include "serve/readme/safe_html.hpp"

namespace skua::cli {
namespace {

bool is_markdown(std::string_view name) noexcept {
  for (const std::string_view extension : {".md", ".markdown"}) {
    if (name.size() > extension.size() &&
        ascii::equals_ignoring_case(name.substr(name.size() - extension.size()), extension)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string readme_html(std::string_view name, std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (is_markdown(name)) {
    if (auto html = markdown_html(text)) return *std::move(html);
  }
  std::string html = "<pre>\n";  // a line feed at the beginning is not shown
  append_escaped_text(html, text);
  return html.append("</pre>\n");
}

}  // namespace skua::cli
