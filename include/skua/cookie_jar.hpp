// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/cookie.hpp"
#include "skua/error.hpp"
#include "skua/url.hpp"

namespace skua {

/// A cookie in a jar.
struct KeptCookie {
  std::string name{};  ///< may be empty
  std::string value{};
  std::string domain{};  ///< a name in lower case, or an address (IPv6 in brackets)
  std::string path = "/";
  std::optional<std::chrono::sys_seconds> expires{};  ///< absent: a session cookie
  std::optional<SameSite> same_site{};  ///< informational: a client without pages sends them all
  bool host_only = true;                ///< for this host only, not its subdomains
  bool secure = false;                  ///< for https and wss only
  bool http_only = false;               ///< informational: a client without scripts hides nothing

  bool operator==(const KeptCookie&) const noexcept = default;
};

/// Limits of a jar. Past them it evicts the least recently used cookies, within a domain those
/// without Secure first. Zero keeps nothing.
struct CookieJarOptions {
  std::size_t cookies_per_domain = 50;
  std::size_t cookies = 3000;
  std::size_t size_bytes = 4_MiB;  ///< of names, values, domains and paths
  /// Reports whether a domain is a public suffix, such as `co.uk`, for which no cookie may be set.
  /// Called with a name in lower case that contains a dot. Empty: only names without a dot, such as
  /// `com`, are public suffixes.
  std::function<bool(std::string_view domain)> is_public_suffix{};
};

/// The result of reading a `cookies.txt`.
struct CookieFileReport {
  struct Line {
    std::size_t number = 0;  ///< from 1
    Error reason = Errc::None;
  };
  static constexpr std::size_t max_lines = 100;

  std::size_t kept = 0;       ///< cookies added to the jar
  std::size_t expired = 0;    ///< cookies left out because they have expired
  std::size_t refused = 0;    ///< lines that are malformed, or whose cookie was refused
  std::vector<Line> lines{};  ///< the first `max_lines` of those
};

/// A client's store of the cookies that servers set; it uses no clock and no socket.
///
/// ```cpp
/// skua::CookieJar jar;
/// static_cast<void>(jar.store(url, "id=7; Path=/; Secure", now));
/// const std::string field = jar.field_for(next_url, now);  // id=7
/// ```
/// A cookie is for its host only, unless it has a Domain. The jar has no list of public suffixes:
/// without CookieJarOptions::is_public_suffix any host below `co.uk` can set a cookie for all the
/// others.
///
/// Lifetime:  copies are independent. One thread at a time, field_for() included.
/// RFC:       6265bis §5.7, §5.8, for a client without pages and scripts
class SKUA_API CookieJar final {
 public:
  explicit CookieJar(CookieJarOptions options = {}) : options_(std::move(options)) {}

  /// Stores the cookie of a Set-Cookie field, replacing the one with its name, domain and path; or
  /// deletes that one if the new one has expired.
  ///
  /// Ends with: MalformedCookie as in SetCookie::parse; CookieRefused with the reason as context: a
  ///            Domain that is not the host's, or is a public suffix; Secure, or the name of a
  ///            secure cookie, over an insecure connection; a tab; no room.
  /// RFC:       6265bis §5.7
  Result<void> store(const Url& url, std::string_view set_cookie, std::chrono::sys_seconds now);

  /// Returns the value of the Cookie field for a request; empty if there are no cookies to send.
  ///
  /// RFC:       6265bis §5.8.3
  [[nodiscard]] std::string field_for(const Url& url, std::chrono::sys_seconds now);

  /// Adds a cookie from a source other than a server. It may replace a secure one. For a public
  /// suffix or an address, it is made host-only.
  ///
  /// Ends with: MalformedCookie for one that no Set-Cookie field could carry; CookieRefused.
  Result<void> add(KeptCookie cookie, std::chrono::sys_seconds now);

  /// Returns all cookies that have not expired, the oldest first.
  [[nodiscard]] std::vector<KeptCookie> cookies(std::chrono::sys_seconds now) const;
  /// The number of cookies, possibly with some that have expired.
  [[nodiscard]] std::size_t size() const noexcept { return count_; }

  /// Removes the cookie with this name, domain, path, and host_only.
  void erase(const KeptCookie& cookie);
  /// Removes the cookies of a domain and of its subdomains, but not of its parent domains.
  void clear(std::string_view domain);
  void clear() noexcept;
  /// Removes the session cookies.
  void end_session();

  /// Formats a `cookies.txt`, as curl and others use it: all cookies that have not expired, the
  /// oldest first, without SameSite, which the format lacks. Session cookies are included; see
  /// end_session().
  [[nodiscard]] std::string to_netscape(std::chrono::sys_seconds now) const;
  /// Adds the cookies of a `cookies.txt`, line by line, and reports lines without a valid cookie.
  CookieFileReport add_netscape(std::string_view text, std::chrono::sys_seconds now);

  /// Writes to_netscape() atomically to a file that only its owner can read, replacing any other.
  /// Blocks: in a server use it with `offload`.
  ///
  /// Ends with: errors of the file system; Unsupported if the path is not a regular file.
  Result<void, Problem> save(const std::string& path, std::chrono::sys_seconds now) const;
  /// Adds the cookies of a file. Blocks, as save().
  ///
  /// Ends with: NotFound and other errors of the file system; BodyTooLong past 16 MiB.
  Result<CookieFileReport, Problem> load(const std::string& path, std::chrono::sys_seconds now);

 private:
  // A sequence number instead of a time: clocks may be set back, and are too coarse.
  using Tick = std::uint64_t;
  struct Kept {
    KeptCookie cookie;
    Tick created = 0;
    Tick used = 0;  // when it was last sent or set
  };
  using Domain = std::vector<Kept>;  // empty only in the middle of a change
  using Domains = std::map<std::string, Domain, std::less<>>;

  [[nodiscard]] bool is_public(std::string_view domain) const;
  [[nodiscard]] bool shadows_secure(const KeptCookie& cookie, std::chrono::sys_seconds now) const;
  Result<void> keep(KeptCookie cookie, std::chrono::sys_seconds now);
  void make_room(Domains::iterator domain, std::chrono::sys_seconds now);
  void forget(Domain& domain, Domain::iterator kept) noexcept;
  void forget_expired(Domain& domain, std::chrono::sys_seconds now);
  void forget_oldest();
  template <class Predicate>
  void forget_if(Domain& domain, const Predicate& is_over);
  template <class Predicate>
  void forget_if(const Predicate& is_over);

  CookieJarOptions options_;
  Domains domains_;
  std::size_t count_ = 0;
  std::size_t size_bytes_ = 0;
  Tick tick_ = 0;
};

}  // namespace skua
