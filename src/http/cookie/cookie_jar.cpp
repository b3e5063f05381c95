// SPDX-License-Identifier: MIT
// In: Set-Cookie fields and the URLs that they came from. Out: the Cookie field for a URL. Cookies
// are stored by domain, so a request visits only its host and the domains above it.
// SetCookie::parse() checks a cookie by itself; the checks here depend on the site that sets it and
// on the cookies already stored.
#include "http/cookie/cookie_jar.hpp"

#include <algorithm>
#include <utility>

#include "base/ascii.hpp"
#include "http/uri/url_parts.hpp"
#include "loop/clock.hpp"
#include "skua/cookie_jar.hpp"

namespace skua {
namespace {

using std::chrono::sys_seconds;

constexpr Error refused(const char* why) noexcept { return {Errc::CookieRefused, why}; }

// The URL parts that decide who may set a cookie and who receives it.
struct Site {
  std::string host{};
  std::string_view path{};  // as sent in the request
  bool is_name = false;
  bool is_secure = false;

  static std::optional<Site> of(const Url& url) {
    std::optional<Origin> origin = url.origin();
    // A host name cannot start with a dot, and `cookies.txt` could not tell it from a domain.
    if (!origin || !http::scheme_port(origin->scheme) || origin->host.starts_with('.')) {
      return std::nullopt;
    }
    Site site;
    site.path = url.path().empty() ? std::string_view("/") : url.path();
    site.is_name = http::classify_host(origin->host) == HostKind::Name;
    site.is_secure = origin->scheme == "https" || origin->scheme == "wss";
    site.host = std::move(origin->host);
    return site;
  }
};

template <class Domain>
auto find_same(Domain& domain, const KeptCookie& cookie) noexcept {
  return std::find_if(domain.begin(), domain.end(), [&cookie](const auto& kept) {
    return kept.cookie.name == cookie.name && kept.cookie.path == cookie.path &&
           kept.cookie.host_only == cookie.host_only;
  });
}

// Checks that a Set-Cookie field could have produced this cookie, as SetCookie::parse() reads it.
Result<void> check_expressible(const KeptCookie& cookie) {
  std::string field = cookie.name + '=' + cookie.value;
  if (cookie.secure) field += "; Secure";
  if (cookie.path == "/") field += "; Path=/";
  if (!cookie.host_only) field += "; Domain=x";
  if (cookie.same_site == SameSite::None) field += "; SameSite=None";
  const Result<SetCookie> said = SetCookie::parse(field);
  if (!said) return said.error();
  if (said->name != cookie.name || said->value != cookie.value || !cookie.path.starts_with('/')) {
    return Error(Errc::MalformedCookie, "cookie: invalid name, value or path");
  }
  return {};
}

// Returns a cookie's domain as an origin spells it; nullopt if it is not a host.
std::optional<Site> site_of_domain(const std::string& domain) {
  Url url = Url::parse("http://x/").value();
  if (!url.set_host(domain)) return std::nullopt;
  return Site::of(url);
}

// RFC 6265bis §5.8.3: longer paths first, then the older cookies.
template <class Kept>
bool goes_before(const Kept* a, const Kept* b) noexcept {
  const std::size_t a_size = a->cookie.path.size();
  const std::size_t b_size = b->cookie.path.size();
  return a_size != b_size ? a_size > b_size : a->created < b->created;
}

}  // namespace

bool CookieJar::is_public(std::string_view domain) const {
  if (!http::has_inner_dot(domain)) return true;
  return options_.is_public_suffix && options_.is_public_suffix(domain);
}

Result<void> CookieJar::store(const Url& url, std::string_view set_cookie, sys_seconds now) {
  std::optional<Site> site = Site::of(url);
  if (!site) return refused("cookie: the URL cannot have cookies");
  Result<SetCookie> said = SetCookie::parse(set_cookie);
  if (!said) return said.error();
  KeptCookie cookie;
  cookie.expires = said->expiry(now);
  cookie.same_site = said->same_site;
  cookie.secure = said->secure;
  cookie.http_only = said->http_only;
  cookie.path =
      said->path.empty() ? std::string(http::default_cookie_path(site->path)) : said->path;
  cookie.name = std::move(said->name);
  cookie.value = std::move(said->value);

  // An address, `localhost` or a public suffix may name itself: the cookie is host-only then.
  cookie.host_only = said->domain.empty() ||
                     (said->domain == site->host && (!site->is_name || is_public(said->domain)));
  if (!cookie.host_only) {
    if (!site->is_name || !http::domain_matches(site->host, said->domain)) {
      return refused("cookie: Domain does not match the host");
    }
    if (is_public(said->domain)) return refused("cookie: Domain is a public suffix");
  }
  cookie.domain = cookie.host_only ? std::move(site->host) : std::move(said->domain);

  if (!site->is_secure) {
    if (cookie.secure) return refused("cookie: Secure over an insecure connection");
    if (shadows_secure(cookie, now)) return refused("cookie: would hide a Secure cookie");
  }
  return keep(std::move(cookie), now);
}

Result<void> CookieJar::add(KeptCookie cookie, sys_seconds now) {
  const std::optional<Site> site = site_of_domain(cookie.domain);
  if (!site) return Error(Errc::MalformedCookie, "cookie: invalid domain");
  cookie.domain = site->host;
  if (!site->is_name || is_public(cookie.domain)) cookie.host_only = true;
  if (const Result<void> checked = check_expressible(cookie); !checked) return checked;
  if (cookie.expires) {  // RFC 6265bis §5.5
    cookie.expires = std::min<sys_seconds>(
        *cookie.expires, later(now, std::chrono::seconds(std::chrono::days(400))));
  }
  return keep(std::move(cookie), now);
}

// RFC 6265bis §5.7, "leave secure cookies alone": an attacker who can change plaintext traffic must
// not be able to put a cookie in front of one that they cannot see.
bool CookieJar::shadows_secure(const KeptCookie& cookie, sys_seconds now) const {
  for (const auto& [domain, all] : domains_) {
    if (!http::domain_matches(domain, cookie.domain) &&
        !http::domain_matches(cookie.domain, domain)) {
      continue;
    }
    for (const Kept& kept : all) {
      if (kept.cookie.secure && kept.cookie.name == cookie.name &&
          !http::is_expired(kept.cookie, now) &&
          http::path_matches(cookie.path, kept.cookie.path)) {
        return true;
      }
    }
  }
  return false;
}

// The end of RFC 6265bis §5.7: stores the cookie, in place of one that it replaces.
Result<void> CookieJar::keep(KeptCookie cookie, sys_seconds now) {
  // A tab is allowed, but `cookies.txt` cannot hold one; curl refuses it, too.
  if (ascii::has_control(cookie.name) || ascii::has_control(cookie.value) ||
      ascii::has_control(cookie.path)) {
    return refused("cookie: contains a tab");
  }
  const std::size_t bytes = http::size_of(cookie);
  if (bytes > options_.size_bytes) return refused("cookie: too long for the jar");
  if (http::is_expired(cookie, now)) {
    erase(cookie);
    return {};
  }
  const std::string name = cookie.domain;
  const auto domain = domains_.try_emplace(name).first;
  const auto old = find_same(domain->second, cookie);
  Kept kept{std::move(cookie), ++tick_, tick_};
  if (old != domain->second.end()) {
    if (!http::is_expired(old->cookie, now)) kept.created = old->created;
    forget(domain->second, old);
  }
  domain->second.push_back(std::move(kept));
  ++count_;
  size_bytes_ += bytes;
  const Tick mine = tick_;
  make_room(domain, now);
  // make_room() keeps the order: the new cookie is the last, or gone.
  const auto left = domains_.find(name);
  if (left == domains_.end() || left->second.back().used != mine) {
    return refused("cookie: no room in the jar");
  }
  return {};
}

std::string CookieJar::field_for(const Url& url, sys_seconds now) {
  if (domains_.empty()) return {};
  const std::optional<Site> site = Site::of(url);
  if (!site) return {};
  std::vector<Kept*> sent;
  const auto take = [&](std::string_view name) {
    const auto domain = domains_.find(name);
    if (domain == domains_.end()) return;
    forget_expired(domain->second, now);
    for (Kept& kept : domain->second) {
      const bool is_for_host = !kept.cookie.host_only || name.size() == site->host.size();
      if (is_for_host && (!kept.cookie.secure || site->is_secure) &&
          http::path_matches(site->path, kept.cookie.path)) {
        sent.push_back(&kept);
      }
    }
    if (domain->second.empty()) domains_.erase(domain);
  };
  std::string_view name = site->host;
  take(name);
  while (site->is_name && name.find('.') != name.npos) {
    name.remove_prefix(name.find('.') + 1);
    take(name);
  }
  std::sort(sent.begin(), sent.end(), goes_before<Kept>);
  ++tick_;
  CookieField field;
  for (Kept* const kept : sent) {
    kept->used = tick_;
    field.add(kept->cookie.name, kept->cookie.value);
  }
  return field.text();
}

std::vector<KeptCookie> CookieJar::cookies(sys_seconds now) const {
  std::vector<const Kept*> found;
  for (const auto& [name, domain] : domains_) {
    for (const Kept& kept : domain) {
      if (!http::is_expired(kept.cookie, now)) found.push_back(&kept);
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Kept* a, const Kept* b) { return a->created < b->created; });
  std::vector<KeptCookie> cookies;
  cookies.reserve(found.size());
  for (const Kept* const kept : found) cookies.push_back(kept->cookie);
  return cookies;
}

void CookieJar::erase(const KeptCookie& cookie) {
  const auto domain = domains_.find(cookie.domain);
  if (domain == domains_.end()) return;
  const auto old = find_same(domain->second, cookie);
  if (old == domain->second.end()) return;
  forget(domain->second, old);
  if (domain->second.empty()) domains_.erase(domain);
}

}  // namespace skua

// In: the host and path of a request and of a cookie. Out: whether they match. Texts are compared
// as they are: paths keep the percent-encoding of the request.

namespace skua::http {

bool domain_matches(std::string_view host, std::string_view domain) noexcept {
  if (!host.ends_with(domain)) return false;
  return host.size() == domain.size() ||
         (!domain.empty() && host[host.size() - domain.size() - 1] == '.');
}

bool path_matches(std::string_view request_path, std::string_view cookie_path) noexcept {
  if (!request_path.starts_with(cookie_path)) return false;
  return request_path.size() == cookie_path.size() || cookie_path.ends_with('/') ||
         request_path[cookie_path.size()] == '/';
}

std::string_view default_cookie_path(std::string_view request_path) noexcept {
  const std::size_t slash = request_path.rfind('/');
  if (!request_path.starts_with('/') || slash == 0) return "/";
  return request_path.substr(0, slash);
}

bool has_inner_dot(std::string_view domain) noexcept {
  return !domain.starts_with('.') && !domain.ends_with('.') && domain.find('.') != domain.npos &&
         domain.find("..") == domain.npos;
}

}  // namespace skua::http

// Removes cookies from a jar, to make room or on request. The order is that of RFC 6265bis §5.7:
// expired cookies first; then, in a domain with too many, those that are not Secure, so that a
// plaintext connection cannot push out cookies set over TLS; then the least recently used.

namespace skua {

using std::chrono::sys_seconds;

void CookieJar::forget(Domain& domain, Domain::iterator kept) noexcept {
  --count_;
  size_bytes_ -= http::size_of(kept->cookie);
  domain.erase(kept);
}

template <class Predicate>
void CookieJar::forget_if(Domain& domain, const Predicate& is_over) {
  std::erase_if(domain, [&](const Kept& kept) {
    if (!is_over(kept.cookie)) return false;
    --count_;
    size_bytes_ -= http::size_of(kept.cookie);
    return true;
  });
}

template <class Predicate>
void CookieJar::forget_if(const Predicate& is_over) {
  for (auto domain = domains_.begin(); domain != domains_.end();) {
    forget_if(domain->second, is_over);
    domain = domain->second.empty() ? domains_.erase(domain) : std::next(domain);
  }
}

void CookieJar::forget_expired(Domain& domain, sys_seconds now) {
  forget_if(domain, [now](const KeptCookie& cookie) { return http::is_expired(cookie, now); });
}

void CookieJar::forget_oldest() {
  auto in = domains_.begin();
  auto oldest = in->second.begin();
  for (auto domain = in; domain != domains_.end(); ++domain) {
    for (auto kept = domain->second.begin(); kept != domain->second.end(); ++kept) {
      if (kept->used < oldest->used) in = domain, oldest = kept;
    }
  }
  forget(in->second, oldest);
  if (in->second.empty()) domains_.erase(in);
}

void CookieJar::make_room(Domains::iterator domain, sys_seconds now) {
  Domain& all = domain->second;
  if (all.size() > options_.cookies_per_domain) {
    forget_expired(all, now);
    while (all.size() > options_.cookies_per_domain) {
      forget(all, std::min_element(all.begin(), all.end(), [](const Kept& a, const Kept& b) {
               return std::pair(a.cookie.secure, a.used) < std::pair(b.cookie.secure, b.used);
             }));
    }
    if (all.empty()) domains_.erase(domain);
  }
  const auto is_over = [this] {
    return count_ > options_.cookies || size_bytes_ > options_.size_bytes;
  };
  if (!is_over()) return;
  forget_if([now](const KeptCookie& cookie) { return http::is_expired(cookie, now); });
  while (is_over()) forget_oldest();
}

void CookieJar::clear(std::string_view domain) {
  std::string lower(domain);
  std::transform(lower.begin(), lower.end(), lower.begin(), ascii::to_lower);
  forget_if(
      [&lower](const KeptCookie& cookie) { return http::domain_matches(cookie.domain, lower); });
}

void CookieJar::clear() noexcept {
  domains_.clear();
  count_ = size_bytes_ = 0;
}

void CookieJar::end_session() {
  forget_if([](const KeptCookie& cookie) { return !cookie.expires; });
}

}  // namespace skua
