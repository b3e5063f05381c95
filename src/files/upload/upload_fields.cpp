// SPDX-License-Identifier: MIT
#include "files/upload/upload_fields.hpp"

#include <charconv>
#include <system_error>

#include "base/ascii.hpp"
#include "base/base_encoding.hpp"

namespace skua::files {
namespace {

constexpr std::size_t max_digits = 15;
constexpr std::string_view first_line = "skua upload 1";
constexpr std::string_view last_line = "end";

std::string_view trimmed(std::string_view text) noexcept {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

// RFC 9651 §3.1.2: `;` begins parameters, which no field of ours has.
std::string_view without_parameters(std::string_view value) noexcept {
  return trimmed(value.substr(0, value.find(';')));
}

// Cuts the text at the first separator, and returns what is before it.
std::string_view take(std::string_view& text, char separator) noexcept {
  const std::size_t end = text.find(separator);
  const std::string_view piece = text.substr(0, end);
  text = end == text.npos ? std::string_view() : text.substr(end + 1);
  return piece;
}

}  // namespace

std::optional<std::uint64_t> parse_upload_size(std::string_view value) noexcept {
  const std::string_view digits = without_parameters(value);
  if (digits.empty() || digits.size() > max_digits) return std::nullopt;
  std::uint64_t size = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, size);
  if (error != std::errc() || stop != end) return std::nullopt;
  return size;
}

std::optional<bool> parse_upload_complete(std::string_view value) noexcept {
  const std::string_view item = without_parameters(value);
  if (item == "?1") return true;
  if (item == "?0") return false;
  return std::nullopt;
}

std::optional<std::string> find_upload_metadata(std::string_view field, std::string_view key) {
  while (!field.empty()) {
    std::string_view pair = trimmed(take(field, ','));
    const std::string_view name = take(pair, ' ');
    if (name == key) return base64::decode(trimmed(pair));
  }
  return std::nullopt;
}

std::string to_text(const PartState& state) {
  std::string text(first_line);
  const auto add = [&text](std::string_view name, std::string_view value) {
    text.append("\n").append(name).append(" ").append(value);
  };
  add("name", state.name);
  if (!state.owner.empty()) add("owner", state.owner);
  if (state.length_bytes) add("length", std::to_string(*state.length_bytes));
  if (!state.metadata.empty()) add("metadata", state.metadata);
  std::string_view conditions = state.conditions;
  while (!conditions.empty()) {
    std::string_view line = take(conditions, '\n');
    if (line.ends_with('\r')) line.remove_suffix(1);
    add("if", line);
  }
  return text.append("\n").append(last_line).append("\n");
}

std::optional<PartState> parse_state(std::string_view text) {
  if (text.size() > max_state_bytes || take(text, '\n') != first_line) return std::nullopt;
  PartState state;
  while (!text.empty()) {
    std::string_view value = take(text, '\n');
    const std::string_view name = take(value, ' ');
    if (name == last_line) {
      return text.empty() && !state.name.empty() ? std::optional(std::move(state)) : std::nullopt;
    }
    if (name == "name") {
      state.name = value;
    } else if (name == "owner") {
      state.owner = value;
    } else if (name == "length") {
      state.length_bytes = parse_upload_size(value);
      if (!state.length_bytes) return std::nullopt;
    } else if (name == "metadata") {
      state.metadata = value;
    } else if (name == "if") {
      state.conditions.append(value).append("\r\n");
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;  // the end is missing
}

}  // namespace skua::files
