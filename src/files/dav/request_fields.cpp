// SPDX-License-Identifier: MIT
// In: field values of a peer. Out: what they mean, or nothing if they are malformed. A URL in them
// goes the way that a request target goes, and must come out below the folder.
#include "files/dav/request_fields.hpp"

#include <algorithm>
#include <utility>

#include "base/ascii.hpp"
#include "files/file_head.hpp"
#include "http/message/conditional.hpp"
#include "http/uri/authority.hpp"
#include "http/uri/target_path.hpp"
#include "http/uri/url_parts.hpp"
#include "skua/url.hpp"

namespace skua::files {
namespace {

bool is_on_host(const Url& url, std::string_view host) noexcept {
  const auto default_port = http::scheme_port(url.scheme());
  return default_port && !url.has_userinfo() && http::is_authority(url.authority()) &&
         http::is_authority(host) && http::is_same_authority(url.authority(), host, *default_port);
}

}  // namespace

std::optional<Depth> depth_of(const Request& request) noexcept {
  const auto text = request.header("Depth");
  if (!text || ascii::equals_ignoring_case(*text, "infinity")) return Depth::Infinity;
  if (*text == "0") return Depth::Zero;
  if (*text == "1") return Depth::One;
  return std::nullopt;
}

std::optional<bool> overwrite_of(const Request& request) noexcept {
  const auto text = request.header("Overwrite");
  if (!text || ascii::equals_ignoring_case(*text, "T")) return true;
  if (ascii::equals_ignoring_case(*text, "F")) return false;
  return std::nullopt;
}

Result<std::string, Status> path_of_url(std::string_view text, const Request& request,
                                        std::string_view prefix) {
  const Result<Url> url = Url::parse(text);
  if (!url || url->has_query() || url->has_fragment()) return Status::BadRequest;
  if (url->has_scheme() != url->has_authority()) return Status::BadRequest;
  if (url->has_scheme() && !is_on_host(*url, request.requested_host())) return Status::BadGateway;
  std::string scratch(url->path().size(), '\0');
  const auto path = http::canonical_path(url->path(), scratch);
  if (!path || !path->starts_with('/')) return Status::BadRequest;
  if (!path->starts_with(prefix)) return Status::Forbidden;
  const std::string_view below = path->substr(prefix.size());
  if (below.empty()) return std::string("/");
  if (!below.starts_with('/')) return Status::Forbidden;
  return std::string(below);
}

/// Reads the field from left to right.
class IfField::Parser {
 public:
  explicit Parser(std::string_view text) noexcept : rest_(text) {}

  // The field is a series of lists, either all with a URL before one or more of them, or none.
  std::optional<IfField> parse() {
    IfField field;
    std::string_view url;
    const bool is_tagged = peek('<');
    skip_space();
    while (!rest_.empty()) {
      if (peek('<')) {
        const auto tag = take('<', '>');
        if (!is_tagged || !tag || tag->empty() || !peek('(')) return std::nullopt;
        url = *tag;
      }
      auto list = take_list(url);
      if (!list) return std::nullopt;
      field.lists_.push_back(*std::move(list));
      skip_space();
    }
    if (field.lists_.empty()) return std::nullopt;
    return field;
  }

 private:
  void skip_space() noexcept {
    while (rest_.starts_with(' ') || rest_.starts_with('\t')) rest_.remove_prefix(1);
  }

  bool peek(char c) noexcept {
    skip_space();
    return rest_.starts_with(c);
  }

  std::optional<std::string_view> take(char begin, char end) noexcept {
    if (!peek(begin)) return std::nullopt;
    const std::size_t at = rest_.find(end);
    if (at == rest_.npos) return std::nullopt;
    const std::string_view text = rest_.substr(1, at - 1);
    rest_.remove_prefix(at + 1);
    return text;
  }

  // A bracket may be part of a tag, so its quotes are looked for first.
  std::optional<std::string_view> take_etag() noexcept {
    const std::size_t begin = rest_.find('"');
    const std::size_t end = begin == rest_.npos ? begin : rest_.find('"', begin + 1);
    if (end == rest_.npos || rest_.size() <= end + 1 || rest_[end + 1] != ']') return std::nullopt;
    const std::string_view etag = rest_.substr(1, end);
    rest_.remove_prefix(end + 2);
    return http::parse_entity_tag(etag) ? std::optional(etag) : std::nullopt;
  }

  std::optional<Condition> take_condition() {
    Condition condition;
    skip_space();
    if (ascii::equals_ignoring_case(rest_.substr(0, 3), "Not")) {
      condition.is_negated = true;
      rest_.remove_prefix(3);
    }
    if (peek('[')) {
      const auto etag = take_etag();
      if (!etag) return std::nullopt;
      condition.etag = *etag;
      return condition;
    }
    const auto token = take('<', '>');
    if (!token || token->empty()) return std::nullopt;
    return condition;
  }

  std::optional<List> take_list(std::string_view url) {
    if (!peek('(')) return std::nullopt;
    rest_.remove_prefix(1);
    List list{.url = url};
    while (!peek(')')) {
      const auto condition = take_condition();
      if (!condition) return std::nullopt;
      list.conditions.push_back(*condition);
    }
    rest_.remove_prefix(1);
    if (list.conditions.empty()) return std::nullopt;
    return list;
  }

  std::string_view rest_;
};

std::optional<IfField> IfField::parse(std::string_view text) { return Parser(text).parse(); }

bool IfField::holds(const Lookup& etag_of) const {
  return std::ranges::any_of(lists_, [&](const List& list) {
    std::optional<std::string> current;  // is looked up once, and only if it is needed
    return std::ranges::all_of(list.conditions, [&](const Condition& condition) {
      if (condition.etag.empty()) return condition.is_negated;
      if (!current) current = etag_of(list.url);
      const auto has = http::parse_entity_tag(*current);
      const auto wanted = http::parse_entity_tag(condition.etag);
      const bool is_equal = has && wanted && names_file_version(*wanted, *has);
      return is_equal != condition.is_negated;
    });
  });
}

}  // namespace skua::files
