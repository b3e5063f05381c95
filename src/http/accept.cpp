// SPDX-License-Identifier: MIT
// In: a request and the offers of a handler. Out: the offer that the client prefers. The field is
// scanned once per offer, and the most specific matching member decides, so nothing is stored and
// nothing needs a limit.
#include "skua/accept.hpp"

#include <algorithm>

#include "base/ascii.hpp"
#include "http/accepted_list.hpp"
#include "http/field.hpp"
#include "http/request_parts.hpp"

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
