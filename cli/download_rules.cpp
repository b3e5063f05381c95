// SPDX-License-Identifier: MIT
// Decides whether a response continues a partial download, and chooses file names.
#include "download_rules.hpp"

#include "http/content_disposition.hpp"

namespace skua::cli {
namespace {

client::ContentRange content_range(const ClientResponse& response) {
  const auto range = client::parse_content_range(response.header("content-range").value_or(""));
  return range.value_or(client::ContentRange());
}

client::Validators validators_of(const ClientResponse& response) {
  return {.etag = response.header("etag"),
          .last_modified = response.header("last-modified"),
          .date = response.header("date")};
}

}  // namespace

client::PartOrigin origin_of(const Url& url, const ClientResponse& response) {
  return {.url = client::origin_url(url),
          .validator = client::strong_validator(validators_of(response)),
          .total_bytes = response.length_bytes()};
}

client::Verdict judge(const ClientResponse& response, const client::ResumableFile& file,
                      bool asked_for_rest) {
  const client::KnownPart part{.size_bytes = file.size_bytes(),
                               .validator = file.origin().validator,
                               .total_bytes = file.origin().total_bytes};
  return client::judge({.status = code(response.status()),
                        .range = content_range(response),
                        .validators = validators_of(response)},
                       asked_for_rest ? &part : nullptr);
}

std::optional<std::uint64_t> total_told(const ClientResponse& response) {
  return content_range(response).total;
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
