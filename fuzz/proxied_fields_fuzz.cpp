// SPDX-License-Identifier: MIT
// In: field names, one a line. Checked: of those that a proxy passes on, none with `_` reads like
// another one, or like a field that skua knows, to a server that cannot tell `_` from `-`; and the
// first as the value of `grpc-timeout`.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/ascii.hpp"
#include "http/message/field.hpp"
#include "proxy/fields.hpp"
#include "proxy/grpc.hpp"
#include "skua/field_lines.hpp"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

std::string folded(std::string_view name) {
  std::string made(name);
  std::ranges::transform(made, made.begin(),
                         [](char c) { return c == '_' ? '-' : skua::ascii::to_lower(c); });
  return made;
}

void check_names(const skua::FieldLines& lines) {
  for (const skua::FieldLines::Line line : lines) {
    if (line.name.find('_') == line.name.npos) continue;
    const std::string name = folded(line.name);
    check(skua::http::find_field_name(name) == skua::http::FieldName::Other);
    for (const skua::FieldLines::Line other : lines) {
      check(folded(other.name) != name || skua::ascii::equals_ignoring_case(other.name, line.name));
    }
  }
}

void check_timeout(std::string_view text) {
  const auto timeout = skua::proxy::parse_grpc_timeout(text);
  if (!timeout) return;
  check(*timeout >= skua::Duration(0) && text.size() >= 2 && text.size() <= 9);
  check(std::ranges::all_of(text.substr(0, text.size() - 1), skua::ascii::is_digit));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  check_timeout(input.substr(0, input.find('\n')));
  skua::FieldLines lines;
  while (!input.empty()) {
    const std::string_view name = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(name.size() + 1, input.size()));
    try {
      lines.add(name, "x");
    } catch (const std::invalid_argument&) {  // not a name
      continue;
    }
  }
  skua::proxy::remove_ambiguous(lines);
  check_names(lines);
  return 0;
}
