// SPDX-License-Identifier: MIT
// Decides whether bytes of one response may be appended to those of another.
#include "client/files/partial_content.hpp"

#include <charconv>
#include <chrono>
#include <system_error>

#include "base/ascii.hpp"
#include "base/http_date.hpp"
#include "client/fetch.hpp"
#include "http/message/conditional.hpp"
#include "skua/status.hpp"

namespace skua::client {
namespace {

std::optional<std::uint64_t> parse_number(std::string_view text) noexcept {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole ? std::optional(number) : std::nullopt;
}

bool is_old_enough(std::string_view modified, std::string_view date) {
  const std::chrono::sys_seconds now = wall_time();
  const auto then = parse_http_date(modified, now);
  const auto told = parse_http_date(date, now);
  return then && told && *told - *then >= std::chrono::seconds(1);
}

}  // namespace

std::optional<ContentRange> parse_content_range(std::string_view field) noexcept {
  constexpr std::string_view unit = "bytes ";
  if (!ascii::equals_ignoring_case(field.substr(0, unit.size()), unit)) return std::nullopt;
  field.remove_prefix(unit.size());
  const std::size_t slash = field.find('/');
  if (slash == field.npos) return std::nullopt;
  const std::string_view span = field.substr(0, slash);
  const std::string_view total = field.substr(slash + 1);
  ContentRange range;
  range.total = parse_number(total);
  if (!range.total && total != "*") return std::nullopt;
  if (span == "*") return range.total ? std::optional(range) : std::nullopt;
  const std::size_t dash = span.find('-');
  if (dash == span.npos) return std::nullopt;
  range.first = parse_number(span.substr(0, dash));
  range.last = parse_number(span.substr(dash + 1));
  const bool is_sound = range.first && range.last && *range.first <= *range.last &&
                        (!range.total || *range.last < *range.total);
  return is_sound ? std::optional(range) : std::nullopt;
}

std::string strong_validator(const Validators& validators) {
  const auto& [etag, modified, date] = validators;
  if (etag) {
    const auto tag = http::parse_entity_tag(*etag);
    return tag && !tag->weak ? std::string(*etag) : "";
  }
  return modified && date && is_old_enough(*modified, *date) ? std::string(*modified) : "";
}

bool may_belong(std::string_view validator, const Validators& part) noexcept {
  const auto& told = validator.starts_with('"') ? part.etag : part.last_modified;
  return !told || *told == validator;
}

Verdict judge(const PartialAnswer& answer, const KnownPart* asked_from) noexcept {
  const auto is = [&answer](Status status) { return answer.status == code(status); };
  if (!is(Status::PartialContent) && !is(Status::RangeNotSatisfiable)) {
    return answer.status / 100 == 2 ? Verdict::Restart : Verdict::Refuse;
  }
  if (asked_from == nullptr) return Verdict::Refuse;
  const auto& [first, last, total] = answer.range;
  const bool is_as_long = !total || !asked_from->total_bytes || total == asked_from->total_bytes;
  const bool fits = is_as_long && may_belong(asked_from->validator, answer.validators);
  if (is(Status::RangeNotSatisfiable)) {
    return fits && total == asked_from->size_bytes ? Verdict::Whole : Verdict::Again;
  }
  const bool goes_on = fits && !asked_from->is_all && first == asked_from->size_bytes;
  return goes_on ? Verdict::Append : Verdict::Again;
}

}  // namespace skua::client
