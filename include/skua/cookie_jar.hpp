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
#include "skua/cookie.hpp"
#include "skua/error.hpp"
#include "skua/url.hpp"

namespace skua {

/// A cookie that a jar keeps.
struct KeptCookie {
  std::string name{};  ///< may be empty
  std::string value{};
  std::string domain{};  ///< a name in lower case, or an address, IPv6 in brackets
  std::string path = "/";
  std::optional<std::chrono::sys_seconds> expires{};  ///< absent: it ends with the session
  std::optional<SameSite> same_site{};  ///< to be shown: a client without pages sends them all
  bool host_only = true;                ///< for that host alone, not for the names below it
  bool secure = false;                  ///< for https and wss only
  bool http_only = false;               ///< to be shown: a client without scripts hides nothing

  bool operator==(const KeptCookie&) const noexcept = default;
};

/// What a jar may keep, at most; past that it forgets what was not sent for the longest time,
/// within a domain what is not Secure first. Zero: nothing.
struct CookieJarOptions {
  std::size_t cookies_per_domain = 50;
  std::size_t cookies = 3000;
  std::size_t size_bytes = 4_MiB;  ///< of names, values, domains and paths
  /// Whether the names below a domain belong to different people, as those below `co.uk`: asked
  /// with a name in lower case that has a dot in it. Then a cookie for all of them is refused.
  /// Empty: no such domain is known but those without a dot, as `com`.
  std::function<bool(std::string_view domain)> is_public_suffix{};
};

/// What became of the lines of a `cookies.txt`.
struct CookieFileReport {
  struct Line {
    std::size_t number = 0;  ///< from 1
    Error reason = Errc::None;
  };
  static constexpr std::size_t most_lines = 100;

  std::size_t kept = 0;       ///< cookies that went into the jar
  std::size_t expired = 0;    ///< were left out, as their time is over
  std::size_t refused = 0;    ///< lines that say no cookie, or none that can be kept
  std::vector<Line> lines{};  ///< the first `most_lines` of those
};

/// What a client remembers of the cookies that servers set: a value without a clock or a socket.
///
/// ```cpp
/// skua::CookieJar jar;
/// static_cast<void>(jar.store(url, "id=7; Path=/; Secure", now));
/// const std::string field = jar.field_for(next_url, now);  // id=7
/// ```
/// A cookie of a host is for that host alone, unless its Domain says more. Which domains no single
/// owner has is not known here (see CookieJarOptions::is_public_suffix): without that, any host of
/// `co.uk` can set a cookie for all the others.
///
/// Lifetime:  copies are independent. One thread at a time, field_for() included.
/// RFC:       6265bis §5.7, §5.8, for a client without pages and scripts
class CookieJar final {
 public:
  explicit CookieJar(CookieJarOptions options = {}) : options_(std::move(options)) {}

  /// Keeps the cookie of a Set-Cookie field, in place of the one with its name, domain and path; or
  /// deletes that, where the new one has expired.
  ///
  /// Ends with: MalformedCookie as SetCookie::parse; CookieRefused with the reason as its context:
  ///            a Domain that is not the host's, a public suffix, Secure over a connection that is
  ///            not or a name that a secure cookie has, a tab, no room.
  /// RFC:       6265bis §5.7
  Result<void> store(const Url& url, std::string_view set_cookie, std::chrono::sys_seconds now);

  /// The value of the Cookie field for a request; empty: there is none to send.
  ///
  /// RFC:       6265bis §5.8.3
  [[nodiscard]] std::string field_for(const Url& url, std::chrono::sys_seconds now);

  /// Keeps a cookie that no server sets: of another store, or by hand. It may take the place of a
  /// secure one. That of a public suffix or of an address is kept for that host alone.
  ///
  /// Ends with: MalformedCookie for what no Set-Cookie field could have said; CookieRefused.
  Result<void> add(KeptCookie cookie, std::chrono::sys_seconds now);

  /// All that have not expired, the oldest first.
  [[nodiscard]] std::vector<KeptCookie> cookies(std::chrono::sys_seconds now) const;
  /// How many are kept, some expired ones perhaps among them.
  [[nodiscard]] std::size_t size() const noexcept { return count_; }

  /// Forgets the cookie with this name, domain (for its host only or not) and path.
  void erase(const KeptCookie& cookie);
  /// Forgets those of a host or domain and of all names below it; those of the domains above it
  /// stay.
  void clear(std::string_view domain);
  void clear() noexcept;
  /// Forgets those that were to last until the end of the session.
  void end_session();

  /// The text of a `cookies.txt`, as curl and others read and write it: all that have not expired,
  /// the oldest first, without SameSite, which it cannot say. Those of the session are among them:
  /// see end_session().
  [[nodiscard]] std::string to_netscape(std::chrono::sys_seconds now) const;
  /// Adds the cookies of such a text, line by line; what is no cookie is reported.
  CookieFileReport add_netscape(std::string_view text, std::chrono::sys_seconds now);

  /// Writes to_netscape() into a file that only its owner can read, in place of what was there: as
  /// a whole or not at all. It blocks: in a server call it off the loop (`offload`).
  ///
  /// Ends with: what the file system says; Unsupported for what is no plain file, as a pipe.
  Result<void> save(const std::string& path, std::chrono::sys_seconds now) const;
  /// Adds the cookies of a file. It blocks, as save().
  ///
  /// Ends with: NotFound and what else the file system says; BodyTooLong for more than 16 MiB.
  Result<CookieFileReport> load(const std::string& path, std::chrono::sys_seconds now);

 private:
  // Order of events, instead of time: a clock may be set back, and is too coarse.
  using Tick = std::uint64_t;
  struct Kept {
    KeptCookie cookie;
    Tick created = 0;
    Tick used = 0;  // when it was sent or set last
  };
  using Domain = std::vector<Kept>;  // never empty, but in the middle of a change
  using Domains = std::map<std::string, Domain, std::less<>>;

  [[nodiscard]] bool is_public(std::string_view domain) const;
  [[nodiscard]] bool hides_secure(const KeptCookie& cookie, std::chrono::sys_seconds now) const;
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
