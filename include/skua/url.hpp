// SPDX-License-Identifier: MIT
#pragma once

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

/// Where a text is to stand, and so which of its octets need no percent-encoding there.
enum class PercentSet : std::uint8_t {
  Component,  ///< anywhere: only letters, digits and `-._~` stay
  Segment,    ///< one segment of a path: `/` is encoded
  Path,       ///< a path with its slashes
  Query,      ///< a whole query: `&`, `=` and `+` stay
  Form,       ///< a name or value of a form or query: a space becomes `+`. WHATWG URL §5.2
  Userinfo,   ///< `user:password`
  Fragment,
};

/// Percent-encodes a text, `%` included, so that decoding gives the text again.
///
/// RFC:       3986 §2.1
[[nodiscard]] std::string percent_encode(std::string_view text,
                                         PercentSet set = PercentSet::Component);

/// Decodes each `%41`; `+` stays what it is.
///
/// Ends with: Errc::MalformedUrl for a percent sign without two hexadecimal digits.
/// RFC:       3986 §2.1
[[nodiscard]] Result<std::string> percent_decode(std::string_view text);

/// What the host of a URL is.
enum class HostKind : std::uint8_t {
  None,
  Name,      ///< also what only looks like an address: it is never read as one
  Ipv4,      ///< four decimal numbers without leading zeros
  Ipv6,      ///< in brackets, perhaps with a zone
  IpFuture,  ///< `[v1.x]`
};

/// Who answers for a URL: what has to be the same before credentials are sent along. RFC 6454 §4
struct Origin {
  std::string scheme{};  ///< in lower case
  std::string host{};    ///< normalised, with the brackets of IPv6
  std::uint16_t port = 0;

  bool operator==(const Origin&) const noexcept = default;
  /// `https://example.com`, with the port unless it is the scheme's own.
  [[nodiscard]] std::string to_string() const;
};

/// A URL or a relative reference, as it was written; the scheme is in lower case.
///
/// Nothing is repaired: whatever RFC 3986 does not allow is refused, so that nobody else can read
/// another host out of the same text. With one of the schemes http, https, ws and wss, so are an
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
class Url final {
 public:
  static constexpr std::size_t max_bytes = 65536;

  /// The empty reference: it means the document itself.
  Url() noexcept = default;
  /// Ends with: Errc::MalformedUrl for what is no URI reference, and for more than `max_bytes`.
  /// RFC:       3986 §3, §4.1; 6874 §2; 9110 §4.2
  [[nodiscard]] static Result<Url> parse(std::string_view text);

  /// The same for text from the wild, as a Location field or a command line: octets that browsers
  /// encode after the authority are encoded first: a space, what is not ASCII, and `"<>[]^`{|}`.
  ///
  /// A backslash, a control character and a percent sign alone are refused here too, and so is any
  /// such octet in the authority.
  /// Ends with: Errc::MalformedUrl
  [[nodiscard]] static Result<Url> parse_lenient(std::string_view text);

  // The components as they are in the text, still encoded; empty where they are missing.

  [[nodiscard]] std::string_view scheme() const noexcept SKUA_LIFETIMEBOUND;
  /// All between `//` and the path.
  [[nodiscard]] std::string_view authority() const noexcept SKUA_LIFETIMEBOUND;
  [[nodiscard]] std::string_view userinfo() const noexcept SKUA_LIFETIMEBOUND;
  /// With the brackets of an IPv6 address.
  [[nodiscard]] std::string_view host() const noexcept SKUA_LIFETIMEBOUND;
  [[nodiscard]] std::string_view path() const noexcept SKUA_LIFETIMEBOUND;
  [[nodiscard]] std::string_view query() const noexcept SKUA_LIFETIMEBOUND;
  [[nodiscard]] std::string_view fragment() const noexcept SKUA_LIFETIMEBOUND;
  /// The port, where one is written.
  [[nodiscard]] std::optional<std::uint16_t> port() const noexcept;
  /// The port, else that of http, https, ws or wss.
  [[nodiscard]] std::optional<std::uint16_t> effective_port() const noexcept;

  [[nodiscard]] bool has_scheme() const noexcept { return scheme_end_ != 0; }
  /// Whether there is a `//`; what follows it may still be empty, as in `file:///etc`.
  [[nodiscard]] bool has_authority() const noexcept;
  [[nodiscard]] bool has_userinfo() const noexcept;
  [[nodiscard]] bool has_query() const noexcept { return query_end_ != path_end_; }
  [[nodiscard]] bool has_fragment() const noexcept { return query_end_ != text_.size(); }

  [[nodiscard]] HostKind host_kind() const noexcept;
  /// What to connect to: an address without its brackets, a zone as `%eth0`; a name stays as it is
  /// written.
  [[nodiscard]] std::string hostname() const;
  /// The decoded user, up to the first `:` of the userinfo.
  [[nodiscard]] std::string user() const;
  /// The decoded rest of the userinfo.
  [[nodiscard]] std::string password() const;
  /// The value of a Host field: no userinfo, no zone, no port that the scheme has by itself.
  /// RFC 9110 §7.2
  [[nodiscard]] std::string host_field() const;
  /// The target of a request: the path, or `/`, and the query. RFC 9112 §3.2.1
  [[nodiscard]] std::string request_target() const;
  [[nodiscard]] const std::string& to_string() const noexcept SKUA_LIFETIMEBOUND { return text_; }

  /// Scheme, host and port; none for a reference without a scheme or host, and where neither text
  /// nor scheme says a port. Compare these, never texts.
  [[nodiscard]] std::optional<Origin> origin() const;

  /// The same URL in the one form that comparing texts works with: letters in lower case, no
  /// needless percent sign, no dot segments, no port that goes without saying, IPv6 shortened, `/`
  /// for an empty path of the schemes above.
  ///
  /// RFC:       3986 §6.2.2, §6.2.3; 5952 §4
  [[nodiscard]] Url normalised() const;

  /// What a reference means inside the document with this URL.
  ///
  /// Ends with: Errc::MalformedUrl where this has no scheme, and for a result that parse() refuses.
  /// RFC:       3986 §5.2, strict
  [[nodiscard]] Result<Url> resolve(const Url& reference) const;
  [[nodiscard]] Result<Url> resolve(std::string_view reference) const;

  // Setters change one component, or say Errc::MalformedUrl and change nothing. The text is taken
  // as it stands in a URL: `%41` is A, and a `%` alone is refused; every other octet that may not
  // stand there is percent-encoded. Encode foreign text first (`percent_encode`), or use
  // add_segment() and QueryBuilder.

  /// Empty: makes it a relative reference.
  Result<void> set_scheme(std::string_view scheme);
  /// A name or an address, with the brackets of IPv6; nothing in it is encoded. Adds the `//`.
  Result<void> set_host(std::string_view host);
  Result<void> set_port(std::optional<std::uint16_t> port);
  /// `user:password`; empty: none. Refused without a host.
  Result<void> set_userinfo(std::string_view userinfo);
  Result<void> set_path(std::string_view path);
  /// Nothing: no `?` either.
  Result<void> set_query(std::optional<std::string_view> query);
  Result<void> set_fragment(std::optional<std::string_view> fragment);
  /// Appends a segment of any text, `/` and `%` included, to the path. `.` and `..` are refused:
  /// no encoding keeps their meaning away.
  Result<void> add_segment(std::string_view text);

  bool operator==(const Url&) const noexcept = default;

 private:
  friend struct http::UrlParts;

  std::string text_;
  std::uint32_t scheme_end_ = 0;  // the ':' after it; 0: no scheme
  std::uint32_t host_begin_ = 0;  // without authority, as the next two: where the path begins
  std::uint32_t host_end_ = 0;
  std::uint32_t path_begin_ = 0;
  std::uint32_t path_end_ = 0;
  std::uint32_t query_end_ = 0;
};

}  // namespace skua
