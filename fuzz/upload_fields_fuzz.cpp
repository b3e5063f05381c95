// SPDX-License-Identifier: MIT
// In: a field value, or the text of a state. Checked: numbers are those that a slow and simple
// parser reads, metadata is found by its key, and a state survives being written and parsed.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/base_encoding.hpp"
#include "files/upload/upload_fields.hpp"

namespace {

using skua::files::PartState;

void check(bool holds) {
  if (!holds) std::abort();
}

std::string item_of(std::string_view value) {
  std::string item(value.substr(0, value.find(';')));
  while (item.ends_with(' ') || item.ends_with('\t')) item.pop_back();
  while (item.starts_with(' ') || item.starts_with('\t')) item.erase(0, 1);
  return item;
}

void read_fields(std::string_view value) {
  const std::string item = item_of(value);
  const bool is_number =
      !item.empty() && item.size() <= 15 && item.find_first_not_of("0123456789") == item.npos;
  const auto size = skua::files::parse_upload_size(value);
  check(size.has_value() == is_number && (!size || *size == std::stoull(item)));
  const auto complete = skua::files::parse_upload_complete(value);
  check(complete.has_value() == (item == "?0" || item == "?1"));
  check(!complete || *complete == (item == "?1"));
}

void read_metadata(std::string_view field) {
  using skua::files::find_upload_metadata;
  const std::string more = std::string(field) + ",skua-key " + skua::base64::encode(field);
  const auto found = find_upload_metadata(more, "skua-key");
  if (field.find("skua-key") == field.npos) check(found == field);
  const auto value = find_upload_metadata(field, "filename");
  check(!value || value->size() <= field.size());
  check(!value || find_upload_metadata(more, "filename") == value);
}

void write_state(const PartState& state) {
  const std::string text = to_text(state);
  if (text.size() > skua::files::max_state_bytes) return;
  check(skua::files::parse_state(text) == state);
  // A text that is cut is refused.
  for (std::size_t size = 0; size + 1 < text.size(); size += 1 + size / 4) {
    check(!skua::files::parse_state(std::string_view(text).substr(0, size)));
  }
}

void make_state(std::string_view text) {
  std::string line(text);
  std::erase_if(line, [](char c) { return c == '\n' || c == '\r'; });
  if (line.empty()) return;
  const std::size_t third = line.size() / 3;
  PartState state{.name = line};
  write_state(state);
  state.owner = line.substr(third);
  state.metadata = line.substr(2 * third);
  state.conditions = line.substr(third, third) + "\r\n" + line.substr(2 * third) + "\r\n";
  state.length_bytes = line.size();
  write_state(state);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read_fields(text);
  read_metadata(text);
  make_state(text);
  const auto state = skua::files::parse_state(text);
  if (state) {
    check(!state->name.empty());
    const auto again = skua::files::parse_state(to_text(*state));
    check(to_text(*state).size() > skua::files::max_state_bytes || again == state);
  }
  return 0;
}
