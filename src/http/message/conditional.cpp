// SPDX-License-Identifier: MIT
// In: the value of ETag, If-Match, If-None-Match or If-Range. Out: tags as views into it.
// A tag may contain commas, so a list is read tag by tag and never split at commas first.
#include "http/message/conditional.hpp"

#include "base/ascii.hpp"
#include "base/http_date.hpp"

namespace skua::http {
namespace {

// RFC 9110 §8.8.3: etagc = %x21 / %x23-7E / obs-text
constexpr bool is_etagc(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte == 0x21 || (byte >= 0x23 && byte != 0x7F);
}

// Takes a tag off the front of `text`.
std::optional<EntityTag> take_tag(std::string_view& text) noexcept {
  EntityTag tag;
  std::string_view rest = text;
  if (rest.starts_with("W/")) {  // case-sensitive: RFC 9110 §8.8.3
    tag.weak = true;
    rest.remove_prefix(2);
  }
  if (rest.empty() || rest.front() != '"') return std::nullopt;
  rest.remove_prefix(1);
  std::size_t length = 0;
  while (length < rest.size() && is_etagc(rest[length])) ++length;
  if (length == rest.size() || rest[length] != '"') return std::nullopt;
  tag.opaque = rest.substr(0, length);
  text = rest.substr(length + 1);
  return tag;
}

}  // namespace

std::optional<EntityTag> parse_entity_tag(std::string_view text) noexcept {
  const std::optional<EntityTag> tag = take_tag(text);
  return text.empty() ? tag : std::nullopt;
}

std::optional<EntityTag> EntityTagList::next() noexcept {
  ascii::skip_ows(rest_);
  while (!rest_.empty() && rest_.front() == ',') {
    rest_.remove_prefix(1);
    ascii::skip_ows(rest_);
  }
  const std::optional<EntityTag> tag = take_tag(rest_);
  ascii::skip_ows(rest_);
  if (!tag || (!rest_.empty() && rest_.front() != ',')) {
    rest_ = {};
    return std::nullopt;
  }
  return tag;
}

// In: the conditions of a request and the validators of its target. Out: proceed, 304 or 412. The
// steps follow RFC 9110 §13.2.2: a later condition never overrules an earlier one. A malformed date
// is ignored, and a malformed tag matches nothing.

namespace {

using std::chrono::sys_seconds;

enum class Lines : std::uint8_t { None, One, Several };

// Finds the first line with this name, and reports whether there are more.
Lines find(const Head& head, FieldName name, std::string_view& value) noexcept {
  Lines found = Lines::None;
  if (!head.has(name)) return found;
  for (const FieldLine& line : head.fields) {
    if (line.name != name) continue;
    if (found != Lines::None) return Lines::Several;
    value = head.value(line);
    found = Lines::One;
  }
  return found;
}

std::optional<sys_seconds> find_date(const Head& head, FieldName name, sys_seconds now) noexcept {
  std::string_view text;
  if (find(head, name, text) != Lines::One) return std::nullopt;
  return parse_http_date(text, now);
}

// Reports whether any line with this name lists the current tag, or `*` if there is a current one.
template <class Equal>
bool names_current(const Head& head, FieldName name, const Validators& current,
                   Equal equal) noexcept {
  const std::optional<EntityTag> own = parse_entity_tag(current.etag);
  for (const FieldLine& line : head.fields) {
    if (line.name != name) continue;
    const std::string_view value = head.value(line);
    if (ascii::trim_ows(value) == "*") {
      if (current.exists) return true;
      continue;
    }
    EntityTagList list(value);
    while (const std::optional<EntityTag> tag = list.next()) {
      if (own && current.exists && equal(*tag, *own)) return true;
    }
  }
  return false;
}

}  // namespace

Precondition check_preconditions(const Head& head, const Validators& current,
                                 sys_seconds now) noexcept {
  // Steps 1 and 2. RFC 9110 §13.1.1 compares strongly, so that no version takes another's place.
  if (head.has(FieldName::IfMatch)) {
    if (!names_current(head, FieldName::IfMatch, current, current.is_version))
      return Precondition::Failed;
  } else if (current.modified) {
    const auto date = find_date(head, FieldName::IfUnmodifiedSince, now);
    if (date && *current.modified > *date) return Precondition::Failed;
  }
  const bool is_read = head.method == Method::Get || head.method == Method::Head;
  // Steps 3 and 4. RFC 9110 §13.1.2 compares weakly.
  if (head.has(FieldName::IfNoneMatch)) {
    if (names_current(head, FieldName::IfNoneMatch, current, weakly_equal)) {
      return is_read ? Precondition::NotModified : Precondition::Failed;
    }
  } else if (is_read && current.modified) {
    const auto date = find_date(head, FieldName::IfModifiedSince, now);
    if (date && *current.modified <= *date) return Precondition::NotModified;
  }
  return Precondition::Proceed;
}

bool range_applies(const Head& head, const Validators& current, sys_seconds now) noexcept {
  std::string_view text;
  const Lines lines = find(head, FieldName::IfRange, text);
  if (lines != Lines::One) return lines == Lines::None;
  text = ascii::trim_ows(text);
  if (const auto tag = parse_entity_tag(text)) {
    const auto own = parse_entity_tag(current.etag);
    return own && strongly_equal(*tag, *own);
  }
  // A date is a strong validator only if it equals ours and its second is over (§8.8.2.2).
  const auto date = parse_http_date(text, now);
  return date && current.modified && *date == *current.modified && *date < now;
}

}  // namespace skua::http
