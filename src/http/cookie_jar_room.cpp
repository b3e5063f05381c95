// SPDX-License-Identifier: MIT
// Removes cookies from a jar, to make room or on request. The order is that of RFC 6265bis §5.7:
// expired cookies first; then, in a domain with too many, those that are not Secure, so that a
// plaintext connection cannot push out cookies set over TLS; then the least recently used.
#include <algorithm>
#include <utility>

#include "base/ascii.hpp"
#include "http/cookie_match.hpp"
#include "http/kept_cookie.hpp"
#include "skua/cookie_jar.hpp"

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
