// SPDX-License-Identifier: MIT
// Whether bytes of one response may stand behind those of another, and what a file is called.
#include "download_rules.hpp"

#include "client/partial_content.hpp"
#include "http/content_disposition.hpp"

namespace skua::cli {
namespace {

bool goes_on(const ClientResponse& response, const PartFile& part) {
  const auto range = client::parse_content_range(response.header("content-range").value_or(""));
  if (!range || range->first != part.size_bytes() || !part.origin()) return false;
  const PartOrigin& origin = *part.origin();
  if (range->total && origin.total_bytes && range->total != origin.total_bytes) return false;
  const auto etag = response.header("etag");
  const bool is_etag = origin.validator.starts_with('"');
  return !etag || !is_etag || *etag == origin.validator;
}

}  // namespace

std::string strong_validator(const ClientResponse& response) {
  return client::strong_validator({.etag = response.header("etag"),
                                   .last_modified = response.header("last-modified"),
                                   .date = response.header("date")});
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
    const auto range = client::parse_content_range(response.header("content-range").value_or(""));
    const bool is_whole = range && range->total == part.size_bytes();
    return is_whole ? Verdict::Whole : Verdict::Again;
  }
  const auto number = static_cast<unsigned>(status);
  return number >= 200 && number < 300 ? Verdict::Restart : Verdict::Refuse;
}

std::optional<std::uint64_t> total_told(const ClientResponse& response) {
  const auto range = client::parse_content_range(response.header("content-range").value_or(""));
  return range ? range->total : std::nullopt;
}

std::string name_told(const ClientResponse& response) {
  const auto field = response.header("content-disposition");
  if (!field) return "";
  const auto disposition = http::parse_content_disposition(*field);
  return disposition ? http::safe_filename(disposition->filename.value_or("")) : "";
}

std::string name_in(const Url& url) {
  const std::string_view path = url.path();
  const std::string_view segment = path.substr(path.rfind('/') + 1);
  const Result<std::string> decoded = percent_decode(segment);
  const std::string name = http::safe_filename(decoded ? *decoded : std::string(segment));
  return name.empty() ? "index.html" : name;
}

}  // namespace skua::cli
