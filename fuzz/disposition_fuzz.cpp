// SPDX-License-Identifier: MIT
// In: a Content-Disposition, a Content-Type or a name. Checked: parsed values are no longer than
// the input, a written name is parsed as the same, and no file name leads outside its folder.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "http/form/content_disposition.hpp"
#include "http/message/media_type.hpp"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; }

void parameters(std::string_view text) {
  skua::http::Parameters parameters(text);
  std::size_t bytes = 0;
  while (const auto parameter = parameters.next()) {
    check(!parameter->name.empty());
    bytes += parameter->name.size() + parameter->value.size() + 2;
    std::string value(parameter->value);
    check(skua::http::unescape_quoted(parameter->value, value.data()) <= value.size());
  }
  check(bytes <= text.size() && !parameters.next());
}

void file_name(std::string_view text) {
  const std::string name = skua::http::safe_filename(text);
  check(name.size() <= 200 && name.find_first_of("/\\:*?\"<>|") == name.npos);
  check(std::none_of(name.begin(), name.end(), is_control));
  check(name.empty() || (name.front() != '.' && name.back() != '.' && name.back() != ' '));
  check(name.empty() || (name.front() != '-' && name.front() != '~'));
  check(skua::http::safe_filename(name) == name);
}

void written(std::string_view name) {
  const std::string field = skua::http::form_data_disposition(name, name);
  check(std::none_of(field.begin(), field.end(), is_control));
  const auto again = skua::http::parse_content_disposition(field);
  check(again.has_value() && again->type == "form-data" && again->name == again->filename);
  // Parsing does not undo the percent-encoding of controls, nor tell a literal `%22` from it.
  const bool is_plain =
      name.find('%') == name.npos && std::none_of(name.begin(), name.end(), is_control);
  check(!is_plain || again->name == name);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  parameters(text);
  if (const auto media = skua::http::parse_media_type(text)) {
    check(media->type.size() + media->subtype.size() + media->parameters.size() < text.size());
    parameters(media->parameters);
  }
  if (const auto disposition = skua::http::parse_content_disposition(text)) {
    check(disposition->name.value_or("").size() <= text.size());
    file_name(disposition->filename.value_or(""));
  }
  file_name(text);
  written(text);
  return 0;
}
