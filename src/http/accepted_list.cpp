// SPDX-License-Identifier: MIT
// In: a line of Accept, Accept-Encoding or Accept-Language. Out: its members as views into it.
// A quoted value may contain commas, so only commas outside of quotes separate members.
#include "http/accepted_list.hpp"

#include "base/ascii.hpp"

namespace skua::http {
namespace {

// Takes the text up to the next comma outside of quotes.
std::string_view take_member(std::string_view& list) noexcept {
  bool is_quoted = false;
  std::size_t at = 0;
  for (; at < list.size() && (is_quoted || list[at] != ','); ++at) {
    if (list[at] == '"') {
      is_quoted = !is_quoted;
    } else if (is_quoted && list[at] == '\\') {
      ++at;
      if (at == list.size()) break;
    }
  }
  const std::string_view member = list.substr(0, at);
  list.remove_prefix(at == list.size() ? at : at + 1);
  return ascii::trim_ows(member);
}

// RFC 9110 §12.4.2: 0 or 1, and at most three decimals.
std::optional<unsigned> parse_weight(std::string_view text) noexcept {
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return std::nullopt;
  if (text.size() > 1 && text[1] != '.') return std::nullopt;
  unsigned weight = text[0] == '1' ? 1000 : 0;
  unsigned unit = 100;
  for (std::size_t i = 2; i < text.size(); ++i, unit /= 10) {
    if (!ascii::is_digit(text[i])) return std::nullopt;
    weight += static_cast<unsigned>(text[i] - '0') * unit;
  }
  if (weight > 1000) return std::nullopt;
  return weight;
}

// Takes a token; returns an empty view if the text does not start with one.
std::string_view take_token(std::string_view& text) noexcept {
  std::size_t size = 0;
  while (size < text.size() && ascii::is_token(text[size])) ++size;
  const std::string_view token = text.substr(0, size);
  text.remove_prefix(size);
  return token;
}

// Takes a quoted string and returns the text between the quotes, with its escapes.
std::optional<std::string_view> take_quoted(std::string_view& text) noexcept {
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      const std::string_view inside = text.substr(1, at - 1);
      text.remove_prefix(at + 1);
      return inside;
    }
  }
  return std::nullopt;
}

bool is_value(std::string_view text) noexcept {
  for (const char c : text) {
    if (!ascii::is_token(c) && c != '/') return false;
  }
  return !text.empty();
}

std::optional<Accepted> parse_member(std::string_view text) noexcept {
  Accepted member;
  const std::size_t semicolon = text.find(';');
  member.value = ascii::trim_ows(text.substr(0, semicolon));
  if (!is_value(member.value)) return std::nullopt;
  if (semicolon == text.npos) return member;
  const std::string_view parameters = text.substr(semicolon);
  std::string_view rest = parameters;
  std::string_view before = rest;
  while (const auto parameter = take_parameter(rest)) {
    if (ascii::equals_ignoring_case(parameter->name, "q")) {
      const auto weight = parse_weight(parameter->value);
      if (!weight) return std::nullopt;
      member.weight = *weight;
      // Parameters after the weight are extensions, and none was ever defined.
      member.parameters = parameters.substr(0, parameters.size() - before.size());
      return member;
    }
    before = rest;
  }
  if (!rest.empty()) return std::nullopt;
  member.parameters = parameters;
  return member;
}

}  // namespace

std::optional<AcceptParameter> take_parameter(std::string_view& text) noexcept {
  std::string_view rest = text;
  ascii::skip_ows(rest);
  while (!rest.empty() && rest.front() == ';') {
    rest.remove_prefix(1);
    ascii::skip_ows(rest);
    AcceptParameter parameter{.name = take_token(rest)};
    if (parameter.name.empty()) continue;  // RFC 9110 §5.6.6: may be empty
    if (rest.empty() || rest.front() != '=') return std::nullopt;
    rest.remove_prefix(1);
    if (!rest.empty() && rest.front() == '"') {
      const auto quoted = take_quoted(rest);
      if (!quoted) return std::nullopt;
      parameter.value = *quoted;
    } else {
      parameter.value = take_token(rest);
      if (parameter.value.empty()) return std::nullopt;
    }
    ascii::skip_ows(rest);
    if (!rest.empty() && rest.front() != ';') return std::nullopt;
    text = rest;
    return parameter;
  }
  if (rest.empty()) text = rest;
  return std::nullopt;
}

std::optional<Accepted> AcceptedList::next() noexcept {
  while (!rest_.empty()) {
    if (const auto member = parse_member(take_member(rest_))) return member;
  }
  return std::nullopt;
}

}  // namespace skua::http
