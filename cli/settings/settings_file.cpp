// SPDX-License-Identifier: MIT
// A thin wrapper of toml++, the only file that includes it: it takes long to compile.
#include "settings/settings_file.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#if defined(SKUA_HAS_TOML)
#include <toml++/toml.h>
#endif

namespace skua::cli {

std::string at_place(const std::string& file, const Place& place, const std::string& text) {
  return file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": " + text;
}

#if defined(SKUA_HAS_TOML)

namespace {

Place place_of(const toml::source_region& region) {
  return {region.begin.line, region.begin.column};
}

// Returns a value as a word of the command line; nullopt if that has none of its type.
std::optional<std::string> word_of(const toml::node& value) {
  if (const auto* const text = value.as_string()) return text->get();
  if (const auto* const number = value.as_integer()) return std::to_string(number->get());
  return std::nullopt;
}

// Adds the value, or the values of an array; returns false if one is of another type.
bool add_values(Setting& setting, const toml::node& value) {
  if (const auto* const flag = value.as_boolean()) {
    setting.is_flag = true;
    if (flag->get()) setting.values.emplace_back("true");
    return true;
  }
  const toml::array* const array = value.as_array();
  setting.is_array = array != nullptr;
  const auto add = [&setting](const toml::node& one) {
    std::optional<std::string> word = word_of(one);
    if (!word) return false;
    setting.values.push_back(*std::move(word));
    return true;
  };
  return array != nullptr ? std::ranges::all_of(*array, add) : add(value);
}

}  // namespace

bool has_settings_files() noexcept { return true; }

Result<std::vector<Setting>, Problem> parse_settings(std::string_view text,
                                                     const std::string& file) {
  const auto malformed = [&file](const Place& place, const std::string& why) {
    return Problem{Error(Errc::MalformedText, "TOML"), at_place(file, place, why)};
  };
  std::vector<Setting> settings;
  try {
    for (const auto& [key, value] : toml::parse(text)) {
      Setting setting{.key = std::string(key.str()),
                      .key_place = place_of(key.source()),
                      .value_place = place_of(value.source())};
      if (!add_values(setting, value)) {
        return malformed(setting.value_place, setting.key +
                                                  " is not a text, a whole number, true "
                                                  "or false, or an array of texts");
      }
      settings.push_back(std::move(setting));
    }
  } catch (const toml::parse_error& error) {
    return malformed(place_of(error.source()), std::string(error.description()));
  }
  std::ranges::sort(settings, {}, [](const Setting& one) {
    return std::pair(one.key_place.line, one.key_place.column);
  });
  return settings;
}

#else

bool has_settings_files() noexcept { return false; }

Result<std::vector<Setting>, Problem> parse_settings(std::string_view, const std::string& file) {
  return Problem{Error(Errc::Unsupported, "TOML"), file + ": this build has no toml++"};
}

#endif

// In: a setting. Out: a line that is read back as the same setting.

namespace {

void append_quoted(std::string& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.append(1, '\\').append(1, c);
    } else if (byte < 0x20 || byte == 0x7F) {
      out.append("\\u00").append(1, digits[byte >> 4U]).append(1, digits[byte & 15U]);
    } else {
      out += c;
    }
  }
  out += '"';
}

// A number is written as one only if reading it yields the same text.
bool is_number(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && std::to_string(number) == text;
}

void append_value(std::string& out, const std::string& value) {
  if (is_number(value)) {
    out += value;
  } else {
    append_quoted(out, value);
  }
}

}  // namespace

std::string format_setting(const Setting& setting) {
  std::string out = setting.key + " = ";
  if (setting.is_flag) return out + (setting.values.empty() ? "false" : "true");
  if (!setting.is_array) {
    append_value(out, setting.values.at(0));
    return out;
  }
  const char* before = "[";
  for (const std::string& value : setting.values) {
    out += std::exchange(before, ", ");
    append_value(out, value);
  }
  return out + (setting.values.empty() ? "[]" : "]");
}

}  // namespace skua::cli
