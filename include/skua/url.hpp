// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "skua/config.hpp"
#include "skua/error.hpp"

namespace skua {

namespace http {
struct UrlParts;
}  // namespace http

/// The place of a text in a URL, which decides which octets need no percent-encoding.
enum class PercentSet : std::uint8_t {
  Component,  ///< anywhere: only letters, digits and `-._~` stay
  Segment,    ///< one segment of a path: `/` is encoded
  Path,       ///< a path with its slashes
  Query,      ///< a whole query: `&`, `=` and `+` stay
  Form,       ///< a name or value of a form or query: a space becomes `+`. WHATWG URL §5.2
  Userinfo,   ///< `user:password`
  Fragment,
};

/// Percent-encodes a text, including `%`, so that decoding restores it.
///
/// RFC:       3986 §2.1
[[nodiscard]] SKUA_API std::string percent_encode(std::string_view text,
                                                  PercentSet set = PercentSet::Component);

/// Decodes each `%41`; `+` stays as it is.
///
/// Ends with: Errc::MalformedUrl for a percent sign without two hexadecimal digits.
/// RFC:       3986 §2.1
[[nodiscard]] SKUA_API Result<std::string> percent_decode(std::string_view text);

/// The kind of a URL's host.
enum class HostKind : std::uint8_t {
  None,
  Name,      ///< also text that only looks like an address: it is never read as one
  Ipv4,      ///< four decimal numbers without leading zeros
  Ipv6,      ///< in brackets, perhaps with a zone
  IpFuture,  ///< `[v1.x]`
};

/// The origin of a URL; credentials are only sent to the origin that they are for. RFC 6454 §4
struct SKUA_API Origin {
  std::string scheme{};  ///< in lower case
  std::string host{};    ///< normalised, with the brackets of IPv6
  std::uint16_t port = 0;

  bool operator==(const Origin&) const noexcept = default;
  /// Returns `https://example.com`, with the port unless it is the scheme's default.
  [[nodiscard]] std::string to_string() const;
};

/// A URL or a relative reference as written, except that the scheme is in lower case.
///
/// Nothing is repaired: anything that RFC 3986 does not allow is refused, so that no other parser
/// can read another host from the same text. With the schemes http, https, ws and wss, so are an
/// empty host and a name whose last label is a number (`127.1`, `0x7f000001`), which resolvers take
/// for an address.
///
/// ```
/// https://user:pw@example.com:8080/a/b?x=1#top
/// |    |  |       |          |    |   |   |
/// |    |  |       host_begin |    |   |   query_end
/// |    |  authority          |    |   path_end
/// |    scheme_end            |    path_begin
/// 0                          host_end
/// ```
class SKUA_API Url final {
 public:
  static constexpr std::size_t max_bytes = 65536;

  /// The empty reference, which means the document itself.
  Url() noexcept = default;
  /// Parses a URL or a relative reference.
  ///
  /// Ends with: Errc::MalformedUrl if it is not a URI reference, or longer than `max_bytes`.
  /// RFC:       3986 §3, §4.1; 6874 §2; 9110 §4.2
  [[nodiscard]] static Result<Url> parse(std::string_view text);

  /// Like parse(), for text from the wild, such as a Location field or a command line. Octets that
  /// browsers encode after the authority are encoded first: a space, non-ASCII, quotes, backticks,
  /// brackets other than round ones, `^` and `|`.
  ///
  /// A backslash, a control character and a lone percent sign are still refused, and so is any such
  /// octet in the authority.
  /// Ends with: Errc::MalformedUrl
  [[nodiscard]] static Result<Url> parse_lenient(std::string_view text);

  // The components as written, still encoded; empty if they are missing.

  [[nodiscard]] std::string_view scheme() const noexcept SKUA_LIFETIMEBOUND;
  /// Returns everything between `//` and the path.
  [[nodiscard]] std::string_view authority() const noexcept SKUA_LIFETIMEBOUND;
  [[nodiscard]] std::string_view userinfo() const noexcept SKUA_LIFETIMEBOUND;
  /// Returns the host; an IPv6 address has its brackets.
  [[nodiscard]] std::string_view host() const noexcept SKUA_LIFETIMEBOUND;
  [[nodiscard]] std::string_view path() const noexcept SKUA_LIFETIMEBOUND;
  [[nodiscard]] std::string_view query() const noexcept SKUA_LIFETIMEBOUND;
  [[nodiscard]] std::string_view fragment() const noexcept SKUA_LIFETIMEBOUND;
  /// Returns the port if one is written.
  [[nodiscard]] std::optional<std::uint16_t> port() const noexcept;
  /// Returns the port, or the default of http, https, ws and wss.
  [[nodiscard]] std::optional<std::uint16_t> effective_port() const noexcept;

  [[nodiscard]] bool has_scheme() const noexcept { return scheme_end_ != 0; }
  /// Reports whether there is a `//`; the authority may still be empty, as in `file:///etc`.
  [[nodiscard]] bool has_authority() const noexcept;
  [[nodiscard]] bool has_userinfo() const noexcept;
  [[nodiscard]] bool has_query() const noexcept { return query_end_ != path_end_; }
  [[nodiscard]] bool has_fragment() const noexcept { return query_end_ != text_.size(); }

  [[nodiscard]] HostKind host_kind() const noexcept;
  /// Returns the host to connect to: an address without brackets, its zone as `%eth0`; a name as
  /// written.
  [[nodiscard]] std::string hostname() const;
  /// Returns the decoded user: the userinfo up to its first `:`.
  [[nodiscard]] std::string user() const;
  /// Returns the decoded rest of the userinfo.
  [[nodiscard]] std::string password() const;
  /// Returns the value for a Host field: no userinfo, no zone, no default port of the scheme.
  /// RFC 9110 §7.2
  [[nodiscard]] std::string host_field() const;
  /// Returns the target for a request: the path, or `/`, and the query. RFC 9112 §3.2.1
  [[nodiscard]] std::string request_target() const;
  [[nodiscard]] const std::string& to_string() const noexcept SKUA_LIFETIMEBOUND { return text_; }

  /// Returns scheme, host and port; nullopt without a scheme or a host, or if neither the text nor
  /// the scheme gives a port. Compare origins, never texts.
  [[nodiscard]] std::optional<Origin> origin() const;

  /// Returns the URL in its canonical form, so that texts can be compared: letters in lower case,
  /// no needless percent-encoding, no dot segments, no default port, IPv6 shortened, `/` for an
  /// empty path of the schemes above.
  ///
  /// RFC:       3986 §6.2.2, §6.2.3; 5952 §4
  [[nodiscard]] Url normalised() const;

  /// Resolves a reference against this URL.
  ///
  /// Ends with: Errc::MalformedUrl if this URL has no scheme, or if parse() refuses the result.
  /// RFC:       3986 §5.2, strict
  [[nodiscard]] Result<Url> resolve(const Url& reference) const;
  [[nodiscard]] Result<Url> resolve(std::string_view reference) const;

  // Setters change one component, or return Errc::MalformedUrl and change nothing. The text is
  // taken as written in a URL: `%41` is A, and a lone `%` is refused; every other octet that is not
  // allowed there is percent-encoded. Encode foreign text first (`percent_encode`), or use
  // add_segment() and QueryBuilder.

  /// Sets the scheme; an empty one makes this a relative reference.
  Result<void> set_scheme(std::string_view scheme);
  /// Sets a name, or an address with the brackets of IPv6; nothing is encoded. Adds the `//`.
  Result<void> set_host(std::string_view host);
  Result<void> set_port(std::optional<std::uint16_t> port);
  /// Sets `user:password`; empty removes it. Refused without a host.
  Result<void> set_userinfo(std::string_view userinfo);
  Result<void> set_path(std::string_view path);
  /// Sets the query; nullopt also removes the `?`.
  Result<void> set_query(std::optional<std::string_view> query);
  Result<void> set_fragment(std::optional<std::string_view> fragment);
  /// Appends a segment of any text, including `/` and `%`, to the path. `.` and `..` are refused,
  /// because they keep their meaning even if encoded.
  Result<void> add_segment(std::string_view text);

  bool operator==(const Url&) const noexcept = default;

 private:
  friend struct http::UrlParts;

  std::string text_;
  std::uint32_t scheme_end_ = 0;  // the ':' after it; 0: no scheme
  std::uint32_t host_begin_ = 0;  // without an authority, this and host_end_ are path_begin_
  std::uint32_t host_end_ = 0;
  std::uint32_t path_begin_ = 0;
  std::uint32_t path_end_ = 0;
  std::uint32_t query_end_ = 0;
};

}  // namespace skua
