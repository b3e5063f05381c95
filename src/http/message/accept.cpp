// SPDX-License-Identifier: MIT
// In: a line of Accept, Accept-Encoding or Accept-Language. Out: its members as views into it.
// A quoted value may contain commas, so only commas outside of quotes separate members.
#include "http/message/accept.hpp"

#include <algorithm>

#include "base/ascii.hpp"
#include "http/message/field.hpp"
#include "http/message/request_parts.hpp"
#include "skua/accept.hpp"

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

// In: a request and the offers of a handler. Out: the offer that the client prefers. The field is
// scanned once per offer, and the most specific matching member decides, so nothing is stored and
// nothing needs a limit.

namespace skua {
namespace {

using http::Accepted;
using http::FieldName;

constexpr unsigned full_weight = 1000;

// Returns how specifically a member matches an offer; 0 if it does not match.
using Match = unsigned (*)(const Accepted& member, std::string_view offer) noexcept;

// Returns the weight of the member that matches an offer most specifically; nullopt if none does.
std::optional<unsigned> weight(const http::Head& head, FieldName name, std::string_view offer,
                               Match match) noexcept {
  unsigned best = 0;
  unsigned found = 0;
  for (const http::FieldLine& line : head.fields) {
    if (line.name != name) continue;
    http::AcceptedList list(head.value(line));
    while (const auto member = list.next()) {
      const unsigned exactness = match(*member, offer);
      if (exactness == 0 || exactness < best) continue;
      if (exactness > best || member->weight > found) found = member->weight;
      best = exactness;
    }
  }
  return best == 0 ? std::nullopt : std::optional(found);
}

std::optional<std::string_view> best_of(const Request& request, FieldName name,
                                        std::span<const std::string_view> offers,
                                        Match match) noexcept {
  const http::Head& head = *http::RequestAccess::parts(request).head;
  std::optional<std::string_view> best;
  unsigned best_weight = 0;
  for (const std::string_view offer : offers) {
    const unsigned own =
        head.has(name) ? weight(head, name, offer, match).value_or(0) : full_weight;
    if (own <= best_weight) continue;
    best = offer;
    best_weight = own;
  }
  return best;
}

// A media type, split at the slash.
struct MediaType {
  std::string_view type;
  std::string_view subtype;
  explicit MediaType(std::string_view text) noexcept
      : type(text.substr(0, text.find('/'))),
        subtype(text.substr(std::min(text.size(), type.size() + 1))) {}
};

bool has_parameter(std::string_view parameters, const http::AcceptParameter& wanted) noexcept {
  while (const auto parameter = http::take_parameter(parameters)) {
    if (ascii::equals_ignoring_case(parameter->name, wanted.name) &&
        ascii::equals_ignoring_case(parameter->value, wanted.value)) {
      return true;
    }
  }
  return false;
}

// RFC 9110 §12.5.1, most specific first: type/subtype;parameters, type/subtype, type/*, */*
unsigned match_type(const Accepted& member, std::string_view offer) noexcept {
  const MediaType range(member.value);
  const std::string_view offered = ascii::trim_ows(offer.substr(0, offer.find(';')));
  const MediaType type(offered);
  if (range.type == "*") return range.subtype == "*" ? 1 : 0;
  if (!ascii::equals_ignoring_case(range.type, type.type)) return 0;
  if (range.subtype == "*") return 2;
  if (!ascii::equals_ignoring_case(range.subtype, type.subtype)) return 0;
  unsigned exactness = 3;
  std::string_view parameters = member.parameters;
  while (const auto parameter = http::take_parameter(parameters)) {
    if (!has_parameter(offer.substr(std::min(offer.find(';'), offer.size())), *parameter)) return 0;
    ++exactness;
  }
  return exactness;
}

bool is_prefix(std::string_view tag, std::string_view longer) noexcept {
  return ascii::equals_ignoring_case(tag, longer.substr(0, tag.size())) &&
         (tag.size() == longer.size() || longer[tag.size()] == '-');
}

// RFC 4647 §3.3.1: a range matches tags that it is a prefix of; longer ranges are more specific.
// §3.4: a tag that is a prefix of the range matches, too, unless the range is refused: refusing the
// longer tag says nothing about the shorter.
unsigned match_language(const Accepted& member, std::string_view offer) noexcept {
  if (member.value == "*") return 1;
  if (member.value.size() <= offer.size()) {
    return is_prefix(member.value, offer) ? 2 + static_cast<unsigned>(member.value.size()) : 0;
  }
  return member.weight != 0 && is_prefix(offer, member.value) ? 2 : 0;
}

// RFC 9110 §8.4.1.3: x-gzip is gzip.
std::string_view without_prefix(std::string_view coding) noexcept {
  return ascii::equals_ignoring_case(coding, "x-gzip") ? coding.substr(2) : coding;
}

unsigned match_encoding(const Accepted& member, std::string_view offer) noexcept {
  if (member.value == "*") return 1;
  return ascii::equals_ignoring_case(without_prefix(member.value), without_prefix(offer)) ? 2 : 0;
}

}  // namespace

std::optional<std::string_view> preferred_type(const Request& request,
                                               std::span<const std::string_view> offers) noexcept {
  return best_of(request, FieldName::Accept, offers, match_type);
}

std::optional<std::string_view> preferred_language(
    const Request& request, std::span<const std::string_view> offers) noexcept {
  return best_of(request, FieldName::AcceptLanguage, offers, match_language);
}

std::optional<std::string_view> preferred_encoding(
    const Request& request, std::span<const std::string_view> offers) noexcept {
  constexpr std::string_view identity = "identity";
  const http::Head& head = *http::RequestAccess::parts(request).head;
  // Every coding is acceptable then, but a client that asks for none may not understand any.
  if (!head.has(FieldName::AcceptEncoding)) return identity;
  const auto best = best_of(request, FieldName::AcceptEncoding, offers, match_encoding);
  const auto own = weight(head, FieldName::AcceptEncoding, identity, match_encoding);
  if (!best) return own == 0U ? std::nullopt : std::optional(identity);
  const auto best_weight = weight(head, FieldName::AcceptEncoding, *best, match_encoding);
  return own && best_weight && *own > *best_weight ? identity : best;
}

}  // namespace skua
