// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "skua/config.hpp"
#include "skua/error.hpp"

namespace skua {

namespace http {
struct Head;
}  // namespace http

class Request;

/// When a browser sends a cookie to us from a page of another site. RFC 6265bis §5.2
enum class SameSite : std::uint8_t { None, Lax, Strict };

/// How a cookie is kept; the defaults are the strict ones.
struct CookieOptions {
  std::chrono::seconds max_age{};  ///< zero: until the browser closes; negative: delete it now
  std::string_view path = "/";     ///< empty: the folder of the request
  std::string_view domain{};       ///< empty: this host only
  bool http_only = true;           ///< hidden from scripts
  bool secure = true;              ///< sent over TLS only
  SameSite same_site = SameSite::Lax;
  bool partitioned = false;  ///< kept apart for each top-level site; needs secure
  /// For clients that do not know Max-Age; where both are given, `max_age` wins. Absent: not said.
  std::optional<std::chrono::system_clock::time_point> expires{};
};
static_assert(std::is_trivially_copyable_v<CookieOptions>);

/// How cookies are written.
enum class CookieForm : std::uint8_t {
  Rfc6265,   ///< what everybody reads today
  Netscape,  ///< the oldest: Expires with dashes, no Max-Age
  Rfc2109,   ///< version 1: quoted values, `$Version`, `$Path`. Browsers keep the quotes in what
             ///< they read: for old clients only
};

/// The value of a Set-Cookie field.
///
/// Forms older than RFC 6265 carry HttpOnly, SameSite and Partitioned too: who does not know them
/// skips them.
/// Ends with: std::invalid_argument for what a browser would drop or read differently: a name that
///            is no token, a value with white space, `"`, `,`, `;`, `\` or what is not ASCII
///            (see escape_cookie), over 4096 bytes of both, a path or domain that cannot be one;
///            SameSite::None or partitioned without secure; a `__Host-` or `__Secure-` name whose
///            options break its promise; and what a form cannot say: `max_age` alone in the
///            Netscape form, a `__Host-` name in that of RFC 2109.
/// RFC:       6265bis §4.1; 2109 §4.2.2
[[nodiscard]] std::string format_set_cookie(std::string_view name, std::string_view value,
                                            const CookieOptions& options = {},
                                            CookieForm form = CookieForm::Rfc6265);

/// Any text as a cookie value: what no value can have is percent-encoded, and `%` too.
[[nodiscard]] std::string escape_cookie(std::string_view text);
/// The text again, without the quotes around it if there are any.
///
/// Ends with: Errc::MalformedCookie for a percent sign without two hexadecimal digits.
[[nodiscard]] Result<std::string> unescape_cookie(std::string_view value);

/// A cookie that a server sets, as a client reads it.
struct SetCookie {
  std::string name{};  ///< may be empty
  std::string value{};
  std::string domain{};  ///< in lower case, without a dot in front; empty: the host that sets it
  std::string path{};    ///< begins with a slash; empty: the folder of the request
  std::optional<std::chrono::sys_seconds> expires{};
  /// Goes before `expires`; zero: delete it. At most 400 days.
  std::optional<std::chrono::seconds> max_age{};
  std::optional<SameSite> same_site{};  ///< absent: browsers take it for Lax
  bool secure = false;
  bool http_only = false;
  bool partitioned = false;

  bool operator==(const SetCookie&) const noexcept = default;

  /// Reads the value of a Set-Cookie field as browsers do: attributes that are not known or make no
  /// sense are skipped, and of those that repeat the last one counts.
  ///
  /// Whether the host may set a cookie for this domain is for the jar to say.
  /// Ends with: Errc::MalformedCookie for a cookie that is ignored as a whole: a control character,
  ///            neither name nor value, more than 4096 bytes of both, SameSite=None or Partitioned
  ///            without Secure, a broken promise of `__Host-` or `__Secure-`, or such a prefix in
  ///            the value of a cookie without a name.
  /// RFC:       6265bis §5.6, §5.7
  [[nodiscard]] static Result<SetCookie> parse(std::string_view field);
  /// When it ends: 400 days from `now` at the latest, the epoch if it is to be deleted; nothing:
  /// with the session. RFC 6265bis §5.6.1, §5.6.2
  [[nodiscard]] std::optional<std::chrono::sys_seconds> expiry(
      std::chrono::sys_seconds now) const noexcept;
};

/// The value of a Cookie field, made of one cookie after the other: `a=b; c=d`, and as RFC 2109
/// `$Version="1"; a="b"; $Path="/"`.
class CookieField final {
 public:
  explicit CookieField(CookieForm form = CookieForm::Rfc6265) noexcept : form_(form) {}

  /// Adds a cookie. RFC 2109 has no way to say one without a name or with `$` in front: the field
  /// goes without.
  ///
  /// Ends with: std::invalid_argument for a control character or `;`, `=` in the name, and a value
  ///            without a name that would be read as a `__Host-` or `__Secure-` cookie.
  /// RFC:       6265bis §5.8.3; 2109 §4.3.4
  CookieField& add(std::string_view name, std::string_view value);
  /// The same; RFC 2109 says its path and domain too.
  CookieField& add(const SetCookie& cookie);

  [[nodiscard]] const std::string& text() const noexcept SKUA_LIFETIMEBOUND { return text_; }

 private:
  void add(std::string_view name, std::string_view value, std::string_view path,
           std::string_view domain);

  std::string text_;
  CookieForm form_;
};

/// One cookie of a request, as it was sent: quotes are part of the value.
struct Cookie {
  std::string_view name{};
  std::string_view value{};
};

/// Every cookie of a request in order of arrival: `for (auto [name, value] : request.cookies())`.
///
/// A pair without `=` is a value without a name; empty pairs are skipped. Bytes stay what they are.
class RequestCookies final {
 public:
  struct End {};
  class Iterator {
   public:
    Cookie operator*() const noexcept { return cookie_; }
    Iterator& operator++() noexcept { return next(), *this; }
    bool operator==(End) const noexcept { return is_end_; }

   private:
    friend class RequestCookies;
    explicit Iterator(const http::Head& head) noexcept : head_(&head) { next(); }
    void next() noexcept;
    const http::Head* head_;
    std::size_t next_line_ = 0;
    std::string_view rest_{};  // of the line that is being read
    Cookie cookie_{};
    bool is_end_ = false;
  };

  [[nodiscard]] Iterator begin() const noexcept { return Iterator(*head_); }
  [[nodiscard]] static End end() noexcept { return {}; }

 private:
  friend class Request;
  explicit RequestCookies(const http::Head& head) noexcept : head_(&head) {}
  const http::Head* head_;
};

}  // namespace skua
