// SPDX-License-Identifier: MIT
// In: a URI reference, a line feed, and another reference or a component. Checked: the components
// add up to the text; the normal form and every resolved URL parse to themselves; no setter changes
// another component; decoding inverts encoding; queries survive being built and parsed.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "http/uri/url_parts.hpp"
#include "skua/query.hpp"
#include "skua/url.hpp"

namespace {

using skua::PercentSet;
using skua::Result;
using skua::Url;
using skua::http::UrlParts;

void check(bool holds) {
  if (!holds) std::abort();
}

void check_same(const Result<Url>& read, const Url& url) {
  // A normal form may be a few bytes over the limit.
  if (!read && url.to_string().size() > Url::max_bytes) return;
  check(read && *read == url);
}

void check_accessors(const Url& url) {
  const UrlParts parts = UrlParts::of(url);
  check(parts.join() == url);
  check_same(Url::parse(url.to_string()), url);
  check(url.to_string().find_first_of(" \t\r\n\\\"<>") == std::string::npos);
  check(url.host().find_first_of("@/?#") == std::string_view::npos);
  const Url normal = url.normalised();
  check(normal.normalised() == normal);
  check_same(Url::parse(normal.to_string()), normal);
  check(normal.origin() == url.origin());
  check(normal.host_kind() == url.host_kind() || url.host_kind() == skua::HostKind::Name);
  if (const auto origin = url.origin()) {
    const Result<Url> again = Url::parse(origin->to_string());
    check(again && again->origin() == origin);
    check(url.host_field().find_first_of("@%") == std::string::npos ||
          url.host_kind() == skua::HostKind::Name);
  }
  (void)url.hostname();
  (void)url.user();
  (void)url.password();
  (void)url.request_target();
}

template <class Set>
void check_setter(const Url& url, UrlParts before, Set set, auto UrlParts::* component) {
  Url changed = url;
  if (!set(changed)) {
    check(changed == url);
    return;
  }
  check_same(Url::parse(changed.to_string()), changed);
  UrlParts after = UrlParts::of(changed);
  before.*component = after.*component = {};
  before.has_authority = after.has_authority = false;
  check(before == after);
}

void check_setters(const Url& url, std::string_view text) {
  const UrlParts parts = UrlParts::of(url);
  check_setter(url, parts, [&](Url& u) { return bool(u.set_scheme(text)); }, &UrlParts::scheme);
  check_setter(url, parts, [&](Url& u) { return bool(u.set_host(text)); }, &UrlParts::host);
  check_setter(url, parts, [&](Url& u) { return bool(u.set_userinfo(text)); }, &UrlParts::userinfo);
  check_setter(url, parts, [&](Url& u) { return bool(u.set_path(text)); }, &UrlParts::path);
  check_setter(url, parts, [&](Url& u) { return bool(u.add_segment(text)); }, &UrlParts::path);
  check_setter(url, parts, [&](Url& u) { return bool(u.set_query(text)); }, &UrlParts::query);
  check_setter(url, parts, [&](Url& u) { return bool(u.set_fragment(text)); }, &UrlParts::fragment);
}

void check_text(std::string_view text) {
  for (const PercentSet set : {PercentSet::Component, PercentSet::Segment, PercentSet::Path,
                               PercentSet::Query, PercentSet::Userinfo, PercentSet::Fragment}) {
    check(skua::percent_decode(skua::percent_encode(text, set)).value() == text);
  }
  (void)skua::percent_decode(text);
  const skua::QueryBuilder builder(text);
  const std::string query = builder.to_string();
  check(skua::QueryBuilder(query).parameters() == builder.parameters());
  const skua::QueryBuilder one = skua::QueryBuilder().add(text, text);
  check(skua::QueryView(one.to_string()).first(text) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<char> exact(data, data + size);
  const std::string_view all(exact.data(), exact.size());
  const std::size_t line = all.find('\n');
  const std::string_view text = all.substr(0, line);
  const std::string_view other = line == all.npos ? std::string_view{} : all.substr(line + 1);

  check_text(other);
  const Result<Url> url = Url::parse(text);
  const Result<Url> lenient = Url::parse_lenient(text);
  if (lenient) check_accessors(*lenient);
  if (!url) return 0;
  check(lenient && *lenient == *url);
  check_accessors(*url);
  check_setters(*url, other);
  const Result<Url> resolved = url->resolve(other);
  if (!resolved) return 0;
  check(resolved->has_scheme());
  check_accessors(*resolved);
  const Url plain = resolved->resolve(*resolved).value();
  check(plain.resolve(plain).value() == plain);
  return 0;
}
