// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/method.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

// Ready-made middleware: each function returns an object for `router.use()`, which several threads
// may call at once.

namespace skua {

namespace middleware {
class RateTable;
}

/// Which pages of other origins may read responses. Fetch, "CORS protocol".
struct CorsOptions {
  /// `https://example.com`, exactly as a browser sends it; `null` for pages without an origin; or
  /// `*` alone for every page, which rules out credentials.
  std::vector<std::string> origins{};
  /// Decides about origins that are not in the list: `scheme://host[:port]` in lower case, never
  /// `null` or malformed. Empty: they are not allowed. Compare the scheme too: anybody on the
  /// network can forge a page that is loaded over plain HTTP.
  std::function<bool(std::string_view origin)> allow_origin{};
  std::vector<Method> methods{Method::Get, Method::Head, Method::Post};
  /// Request fields that a page may set; `*` alone: any that it asks for.
  std::vector<std::string> headers{};
  std::vector<std::string> exposed{};  ///< response fields that a page may read
  /// How long a browser may cache a preflight response. Negative: not sent.
  std::chrono::seconds max_age{600};
  bool credentials = false;      ///< allows cookies and Authorization
  bool private_network = false;  ///< allows public pages to reach this server in a local network
  std::vector<std::string> other_methods{};  ///< besides `methods`, those that skua does not know
};

/// Answers preflights, and tells browsers which pages may read responses.
class SKUA_API Cors final {
 public:
  /// See Router::use().
  static constexpr bool ignores_path = true;

  explicit Cors(CorsOptions options);
  [[nodiscard]] std::optional<Response> guard(Request& request) const;
  void finish(const Request& request, Response& response) const;

 private:
  [[nodiscard]] bool is_allowed(std::string_view origin) const;

  CorsOptions options_;
  std::string methods_;
  std::string headers_;
  std::string exposed_;
  bool is_any_origin_ = false;
  bool is_any_header_ = false;
};

/// Lets pages of other origins read responses. Use it first, before guards that authenticate:
/// preflights carry no credentials.
///
/// Ends with: std::invalid_argument if no origin is allowed, for `*` with credentials or beside
///            other origins, and for a malformed origin, method or field name.
[[nodiscard]] inline Cors cors(CorsOptions options) { return Cors(std::move(options)); }

/// Options of request_id().
struct RequestIdOptions {
  std::string field = "X-Request-Id";
  /// Accepts the client's identifier if it is visible ASCII of at most 128 bytes. Only for use
  /// behind a proxy that sets or removes the field: otherwise anybody can write to your logs.
  bool trust_incoming = false;
};

/// The identifier of a request: `request.attachments().find<skua::RequestId>()`.
struct RequestId {
  std::string value{};
};

/// Gives each request an identifier and sends it in the response.
class SKUA_API RequestIds final {
 public:
  /// See Router::use().
  static constexpr bool ignores_path = true;

  explicit RequestIds(RequestIdOptions options);
  [[nodiscard]] std::optional<Response> guard(Request& request) const;
  void finish(const Request& request, Response& response) const;

 private:
  RequestIdOptions options_;
};

/// Gives each request an identifier, for logs; see RequestId.
///
/// Ends with: std::invalid_argument if the field name is not a token.
[[nodiscard]] inline RequestIds request_id(RequestIdOptions options = {}) {
  return RequestIds(std::move(options));
}

/// Response fields that turn off risky browser behavior; an empty value leaves its field out.
struct SecurityHeadersOptions {
  bool nosniff = true;  ///< X-Content-Type-Options: browsers do not guess media types
  std::string referrer_policy = "strict-origin-when-cross-origin";
  std::string frame_options = "DENY";  ///< or SAMEORIGIN: which pages may frame this one
  /// Content-Security-Policy. No default, as it depends on what the pages load.
  std::string content_security_policy{};
  std::string permissions_policy{};
  std::string cross_origin_opener_policy = "same-origin";
  std::string cross_origin_resource_policy = "same-origin";
  std::string cross_origin_embedder_policy{};  ///< `require-corp` blocks most cross-origin images
  /// Strict-Transport-Security: how long browsers refuse plain HTTP for this host. Sent only if
  /// Request::scheme() is https. Zero: not sent.
  std::chrono::seconds strict_transport{std::chrono::hours(24 * 180)};
  bool strict_transport_subdomains = false;
};

/// Sets the fields that the handler did not set itself.
class SKUA_API SecurityHeaders final {
 public:
  explicit SecurityHeaders(const SecurityHeadersOptions& options);
  void operator()(const Request& request, Response& response) const;

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
  std::string strict_transport_;
};

/// Adds the fields that make browsers safer.
///
/// Ends with: std::invalid_argument if a value contains a control character.
[[nodiscard]] inline SecurityHeaders security_headers(const SecurityHeadersOptions& options = {}) {
  return SecurityHeaders(options);
}

/// How many requests each client may send: `requests` in `per`, spread evenly after a burst.
struct RateLimitOptions {
  std::size_t requests = 100;  ///< in each `per`
  Duration per = 1min;
  std::size_t burst = 0;  ///< at once, after a pause; zero: as many as `requests`
  /// Identifies the client; an empty key means no limit. Default: Request::client_address() without
  /// the port, and only the first 64 bits of IPv6, since one customer gets all of the rest. Behind
  /// a proxy that is not one of ServerOptions::trusted_proxies, every client has its address.
  std::function<std::string(const Request&)> key{};
  /// Clients to remember, 16 bytes each. Beyond that, the clients whose limit has ended or will
  /// end soonest are forgotten first.
  std::size_t max_keys = 65'536;
  /// The name of the limit in RateLimit-Policy and RateLimit
  /// (draft-ietf-httpapi-ratelimit-headers); empty: only Retry-After is sent.
  std::string policy = "default";
};

/// The decision of a limit about one request.
struct RateDecision {
  bool is_allowed = true;
  std::size_t remaining = 0;  ///< requests that would be allowed now
  Duration wait{};            ///< until the next is allowed, or the whole burst is available again
};

/// Answers 429 to clients that send too many requests.
class SKUA_API RateLimit final {
 public:
  /// See Router::use().
  static constexpr bool ignores_path = true;

  explicit RateLimit(const RateLimitOptions& options);
  /// For tests: takes a table that has its own clock.
  RateLimit(RateLimitOptions options, std::shared_ptr<middleware::RateTable> table);
  [[nodiscard]] std::optional<Response> guard(Request& request) const;
  void finish(const Request& request, Response& response) const;

 private:
  friend class SharedRateLimit;
  [[nodiscard]] std::string key_of(const Request& request) const;
  [[nodiscard]] std::optional<Response> count(Request& request, const std::string& key) const;
  [[nodiscard]] std::optional<Response> judge(Request& request, const RateDecision& decision) const;

  std::function<std::string(const Request&)> key_;
  std::string name_;    // as written in both fields; empty: neither is sent
  std::string policy_;  // RateLimit-Policy
  // Shared, so that copies of the middleware count together.
  std::shared_ptr<middleware::RateTable> table_;
};

/// Limits how many requests each client may send.
///
/// Ends with: std::invalid_argument if `requests`, `per` or `max_keys` is zero or far too large, or
///            if the policy name contains a quote, a backslash or anything but printable ASCII.
/// RFC:       6585 §4
[[nodiscard]] inline RateLimit rate_limit(const RateLimitOptions& options = {}) {
  return RateLimit(options);
}

}  // namespace skua
