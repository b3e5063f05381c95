// SPDX-License-Identifier: MIT
// In: a request's spec. Out: its URL, and the fields of one round.
#include <algorithm>
#include <utility>

#include "base/ascii.hpp"
#include "client/fetch.hpp"
#include "client/problem.hpp"
#include "client/wire/decoding.hpp"

namespace skua::client {
namespace {

// Returns nullopt for content that is read only as it is sent.
std::optional<std::string_view> text_of(const RequestContent& content) {
  const Body::Kind kind = content.body.kind();
  if (kind == Body::Kind::File || kind == Body::Kind::Stream) return std::nullopt;
  return content.body.text();
}

}  // namespace

Result<void, Problem> Fetch::read_url() {
  if (spec_.forwarding) return {};
  Result<Url> url = Url::parse_lenient(spec_.url);
  if (url && core_->base_url.has_scheme()) url = core_->base_url.resolve(*url);
  const std::string step = "read the URL '" + without_userinfo(spec_.url) + "'";
  if (!url) return not_a_url(step, spec_.url, url.error());
  if (url->scheme() != "http" && url->scheme() != "https") {
    return could_not(step, Errc::MalformedUrl, "it has to begin with http:// or https://");
  }
  if (url->host().empty()) return could_not(step, Errc::MalformedUrl, "it has no host");
  if (!spec_.query.parameters().empty()) {
    QueryBuilder query(url->query());
    for (const auto& [name, value] : spec_.query.parameters()) query.add(name, value);
    const Result<void> set = url->set_query(query.to_string());
    if (!set) return could_not(step, set.error());
  }
  if (url->has_userinfo()) {
    if (!credentials_) credentials_ = BasicCredentials{url->user(), url->password()};
    static_cast<void>(url->set_userinfo({}));
  }
  url_ = *std::move(url);
  return {};
}

bool Fetch::is_given(std::string_view name) const noexcept {
  if (fields_.find(name)) return true;
  return std::any_of(spec_.left_out.begin(), spec_.left_out.end(), [&](const std::string& one) {
    return ascii::equals_ignoring_case(one, name);
  });
}

void Fetch::add_usual(FieldLines& lines, std::string_view name, std::string_view value) const {
  if (!value.empty() && !is_given(name)) lines.add(name, value);
}

Result<FieldLines> Fetch::fields(const RequestContent& content) {
  if (spec_.forwarding) {
    FieldLines lines = fields_;
    if (waits_for_continue_) lines.add("Expect", "100-continue");
    return lines;
  }
  FieldLines lines;
  add_usual(lines, "User-Agent", core_->options.user_agent);
  add_usual(lines, "Accept", "*/*");
  // A range of coded content cannot be decoded.
  if (spec_.decompress && !fields_.find("Range")) {
    add_usual(lines, "Accept-Encoding", accepted_codings());
  }
  if (content.is_given) add_usual(lines, "Content-Type", content.type);
  if (waits_for_continue_) lines.add("Expect", "100-continue");
  if (core_->options.cookies) add_usual(lines, "Cookie", core_->jar.field_for(url_, wall_time()));
  const Result<void> authorized = authorize(lines, content);
  if (!authorized) return authorized.error();
  const Result<void> introduced = authorize_to_proxy(lines, content);
  if (!introduced) return introduced.error();
  lines.add(fields_);
  return lines;
}

// Adds the credentials for a forwarding proxy. RFC 9110 §11.7
Result<void> Fetch::authorize_to_proxy(FieldLines& lines, const RequestContent& content) {
  shown_to_proxy_.clear();
  constexpr std::string_view field_name = proxy_authorization.credentials;
  if (route_.use != ProxyUse::Forward || fields_.find(field_name)) return {};
  const std::string target = h1::request_target({.form = h1::TargetForm::Absolute}, url_);
  Result<std::string> field =
      route_.proxy->authorization().field(method_name(), target, text_of(content));
  if (!field) return field.error();
  shown_to_proxy_ = *std::move(field);
  if (!shown_to_proxy_.empty()) lines.add(field_name, shown_to_proxy_);
  return {};
}

Authorization& Fetch::authorization(const BasicCredentials& credentials) const {
  // The URL's origin, not the connection's: a Unix socket may serve many origins.
  const skua::Origin origin = url_.origin().value_or(skua::Origin());
  return core_->authorizations.of(origin.to_string(), credentials);
}

Result<void> Fetch::authorize(FieldLines& lines, const RequestContent& content) {
  shown_to_server_.clear();
  constexpr std::string_view field_name = origin_authorization.credentials;
  if (!credentials_ || fields_.find(field_name)) return {};
  Result<std::string> field =
      authorization(*credentials_).field(method_name(), url_.request_target(), text_of(content));
  if (!field) return field.error();
  shown_to_server_ = *std::move(field);
  if (!shown_to_server_.empty()) lines.add(field_name, shown_to_server_);
  return {};
}

}  // namespace skua::client
