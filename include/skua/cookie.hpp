// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

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

/// Whether browsers send a cookie with cross-site requests. RFC 6265bis §5.2
enum class SameSite : std::uint8_t { None, Lax, Strict };

/// Attributes of a cookie; the defaults are the strict ones.
struct CookieOptions {
  std::chrono::seconds max_age{};  ///< zero: until the browser closes; negative: delete it now
  std::string_view path = "/";     ///< empty: the directory of the request path
  std::string_view domain{};       ///< empty: this host only
  bool http_only = true;           ///< hidden from scripts
  bool secure = true;              ///< sent over TLS only
  SameSite same_site = SameSite::Lax;
  bool partitioned = false;  ///< stored separately per top-level site; needs secure
  /// For clients that do not know Max-Age; `max_age` takes precedence. Absent: no Expires.
  std::optional<std::chrono::system_clock::time_point> expires{};
};
static_assert(std::is_trivially_copyable_v<CookieOptions>);

/// The syntax in which cookies are written.
enum class CookieForm : std::uint8_t {
  Rfc6265,   ///< the current syntax
  Netscape,  ///< the original: Expires with dashes, no Max-Age
  Rfc2109,   ///< version 1: quoted values, `$Version`, `$Path`. For old clients only: browsers
             ///< take the quotes as part of the value
};

/// Formats the value of a Set-Cookie field.
///
/// The older forms carry HttpOnly, SameSite and Partitioned too: clients skip unknown attributes.
/// Ends with: std::invalid_argument for a cookie that a browser would drop or read differently: a
///            name that is not a token; a value with white space, `"`, `,`, `;`, `\` or non-ASCII
///            bytes (see escape_cookie); more than 4096 bytes of both; an invalid path or domain;
///            SameSite::None or partitioned without secure; a `__Host-` or `__Secure-` name whose
///            options contradict it. Also for one that the form cannot express: `max_age` alone in
///            the Netscape form, a `__Host-` name in that of RFC 2109.
/// RFC:       6265bis §4.1; 2109 §4.2.2
[[nodiscard]] SKUA_API std::string format_set_cookie(std::string_view name, std::string_view value,
                                                     const CookieOptions& options = {},
                                                     CookieForm form = CookieForm::Rfc6265);

/// Encodes any text as a cookie value: percent-encodes `%` and every byte that no value may have.
[[nodiscard]] SKUA_API std::string escape_cookie(std::string_view text);
/// Decodes a value from escape_cookie(), without the quotes around it, if any.
///
/// Ends with: Errc::MalformedCookie for a percent sign without two hexadecimal digits.
[[nodiscard]] SKUA_API Result<std::string> unescape_cookie(std::string_view value);

/// A cookie as a client reads it from Set-Cookie.
struct SKUA_API SetCookie {
  std::string name{};  ///< may be empty
  std::string value{};
  std::string domain{};  ///< in lower case, without a leading dot; empty: the host that sets it
  std::string path{};    ///< begins with a slash; empty: the directory of the request path
  std::optional<std::chrono::sys_seconds> expires{};
  /// Takes precedence over `expires`; zero: delete it. At most 400 days.
  std::optional<std::chrono::seconds> max_age{};
  std::optional<SameSite> same_site{};  ///< absent: browsers assume Lax
  bool secure = false;
  bool http_only = false;
  bool partitioned = false;

  bool operator==(const SetCookie&) const noexcept = default;

  /// Parses the value of a Set-Cookie field as browsers do: unknown and invalid attributes are
  /// skipped, and the last one of repeated attributes counts.
  ///
  /// The jar checks whether the host may set a cookie for this domain.
  /// Ends with: Errc::MalformedCookie for a cookie that browsers ignore: with a control character,
  ///            neither name nor value, more than 4096 bytes of both, SameSite=None or Partitioned
  ///            without Secure, attributes that contradict a `__Host-` or `__Secure-` name, or such
  ///            a prefix in the value of a cookie without a name.
  /// RFC:       6265bis §5.6, §5.7
  [[nodiscard]] static Result<SetCookie> parse(std::string_view field);
  /// Returns the expiry time: at most 400 days from `now`, the epoch for a deletion, nullopt
  /// for a session cookie. RFC 6265bis §5.6.1, §5.6.2
  [[nodiscard]] std::optional<std::chrono::sys_seconds> expiry(
      std::chrono::sys_seconds now) const noexcept;
};

/// Builds the value of a Cookie field: `a=b; c=d`, or in the form of RFC 2109
/// `$Version="1"; a="b"; $Path="/"`.
class SKUA_API CookieField final {
 public:
  explicit CookieField(CookieForm form = CookieForm::Rfc6265) noexcept : form_(form) {}

  /// Adds a cookie. In the form of RFC 2109 a cookie without a name, or whose name begins with `$`,
  /// is left out.
  ///
  /// Ends with: std::invalid_argument for a control character or `;`, for `=` in the name, and for
  ///            a value without a name that would be read as a `__Host-` or `__Secure-` cookie.
  /// RFC:       6265bis §5.8.3; 2109 §4.3.4
  CookieField& add(std::string_view name, std::string_view value);
  /// Adds a cookie, in the form of RFC 2109 with its path and domain.
  CookieField& add(const SetCookie& cookie);

  [[nodiscard]] const std::string& text() const noexcept SKUA_LIFETIMEBOUND { return text_; }

 private:
  void add(std::string_view name, std::string_view value, std::string_view path,
           std::string_view domain);

  std::string text_;
  CookieForm form_;
};

/// A cookie of a request, as it was sent: quotes are part of the value.
struct Cookie {
  std::string_view name{};
  std::string_view value{};
};

/// The cookies of a request, in order: `for (auto [name, value] : request.cookies())`.
///
/// A pair without `=` is a value without a name; empty pairs are skipped. Nothing is decoded.
class SKUA_API RequestCookies final {
 public:
  struct End {};
  class Iterator {
   public:
    Cookie operator*() const noexcept { return cookie_; }
    Iterator& operator++() noexcept {
      next();
      return *this;
    }
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
