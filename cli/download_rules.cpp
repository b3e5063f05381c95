// SPDX-License-Identifier: MIT
// Whether bytes of one response may stand behind those of another, and what a file is called.
#include "download_rules.hpp"

#include <charconv>
#include <chrono>

#include "base/ascii.hpp"
#include "base/http_date.hpp"
#include "http/content_disposition.hpp"
#include "http/entity_tag.hpp"

namespace skua::cli {
namespace {

std::optional<std::uint64_t> parse_number(std::string_view text) noexcept {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole ? std::optional(number) : std::nullopt;
}

bool is_old_enough(std::string_view modified, std::string_view date) {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const auto then = parse_http_date(modified, now);
  const auto told = parse_http_date(date, now);
  return then && told && *told - *then >= std::chrono::seconds(1);
}

bool goes_on(const ClientResponse& response, const PartFile& part) {
  const auto range = parse_content_range(response.header("content-range").value_or(""));
  if (!range || range->first != part.size_bytes() || !part.origin()) return false;
  const PartOrigin& origin = *part.origin();
  if (range->total && origin.total_bytes && range->total != origin.total_bytes) return false;
  const auto etag = response.header("etag");
  const bool is_etag = origin.validator.starts_with('"');
  return !etag || !is_etag || *etag == origin.validator;
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

std::string strong_validator(const ClientResponse& response) {
  const auto etag = response.header("etag");
  if (etag) {
    const auto tag = http::parse_entity_tag(*etag);
    return tag && !tag->weak ? std::string(*etag) : "";
  }
  const auto modified = response.header("last-modified");
  const auto date = response.header("date");
  return modified && date && is_old_enough(*modified, *date) ? std::string(*modified) : "";
}

std::string origin_url(const Url& url) {
  Url bare = url;
  const bool is_bare = bare.set_userinfo("") && bare.set_fragment(std::nullopt);
  return is_bare ? bare.to_string() : "";
}

PartOrigin origin_of(const Url& url, const ClientResponse& response) {
  return {.url = origin_url(url),
          .validator = strong_validator(response),
          .total_bytes = response.length_bytes()};
}

Verdict judge(const ClientResponse& response, const PartFile& part, bool asked_for_part) {
  const Status status = response.status();
  if (status == Status::PartialContent) {
    if (!asked_for_part) return Verdict::Refuse;
    return goes_on(response, part) ? Verdict::Append : Verdict::Again;
  }
  if (status == Status::RangeNotSatisfiable && asked_for_part) {
    const auto range = parse_content_range(response.header("content-range").value_or(""));
    const bool is_whole = range && range->total == part.size_bytes();
    return is_whole ? Verdict::Whole : Verdict::Again;
  }
  const auto number = static_cast<unsigned>(status);
  return number >= 200 && number < 300 ? Verdict::Restart : Verdict::Refuse;
}

std::string name_told(const ClientResponse& response) {
  const auto field = response.header("content-disposition");
  if (!field) return "";
  const auto disposition = http::parse_content_disposition(*field);
  if (!disposition || !disposition->filename) return "";
  return http::safe_filename(*disposition->filename);
}

std::string name_in(const Url& url) {
  const std::string_view path = url.path();
  const std::string_view segment = path.substr(path.rfind('/') + 1);
  const Result<std::string> decoded = percent_decode(segment);
  std::string name = http::safe_filename(decoded ? *decoded : std::string(segment));
  return name.empty() ? "index.html" : name;
}

}  // namespace skua::cli
