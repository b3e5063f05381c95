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
#include "skua/method.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

// Ready-made middleware: each function returns something that `router.use` takes. One object may be
// used by several threads at once.

namespace skua {

namespace middleware {
class RateTable;
}

/// Which pages of other origins may read our answers. Fetch, "CORS protocol".
struct CorsOptions {
  /// `https://example.com`, exactly as a browser sends it; `null` for pages without an origin; or
  /// only `*`: every page there is, which goes without credentials.
  std::vector<std::string> origins{};
  /// Asked about origins that are not in the list: `scheme://host[:port]` in lower case, never
  /// `null` and nothing malformed; empty: nobody is asked. Compare the scheme too: pages that were
  /// loaded over http can be anybody's.
  std::function<bool(std::string_view origin)> allow_origin{};
  std::vector<Method> methods{Method::Get, Method::Head, Method::Post};
  /// Request fields that a page may set; only `*`: whichever it asks for.
  std::vector<std::string> headers{};
  std::vector<std::string> exposed{};  ///< response fields that a page may read
  /// How long a browser may keep what a preflight said. Negative: nothing is said.
  std::chrono::seconds max_age{600};
  bool credentials = false;      ///< cookies and authorization may be sent along
  bool private_network = false;  ///< pages of the Internet may ask, although we are in a local net
};

/// Answers preflights before anything else does, and tells browsers who may read our answers.
class Cors final {
 public:
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

/// To be used first, before guards that ask who it is: preflights never say it.
///
/// Ends with: std::invalid_argument for no origin at all, for `*` with credentials or beside other
///            origins, and for what no browser sends as one.
[[nodiscard]] inline Cors cors(CorsOptions options) { return Cors(std::move(options)); }

struct RequestIdOptions {
  std::string field = "X-Request-Id";
  /// Takes the client's identifier where it is visible ASCII of at most 128 bytes. Only behind a
  /// proxy that sets or removes the field: else anybody writes into your logs what he likes.
  bool trust_incoming = false;
};

/// The identifier of a request: `request.attachments().find<skua::RequestId>()`.
struct RequestId {
  std::string value{};
};

/// Gives each request an identifier, and each response the same.
class RequestIds final {
 public:
  explicit RequestIds(RequestIdOptions options);
  [[nodiscard]] std::optional<Response> guard(Request& request) const;
  void finish(const Request& request, Response& response) const;

 private:
  RequestIdOptions options_;
};

/// Ends with: std::invalid_argument for a field name that is no token.
[[nodiscard]] inline RequestIds request_id(RequestIdOptions options = {}) {
  return RequestIds(std::move(options));
}

/// Fields that take dangerous habits from browsers; an empty text leaves its field out.
struct SecurityHeadersOptions {
  bool nosniff = true;  ///< X-Content-Type-Options: no guessing of types
  std::string referrer_policy = "strict-origin-when-cross-origin";
  std::string frame_options = "DENY";  ///< or SAMEORIGIN; who may show us in a frame
  /// Content-Security-Policy, as given: what a page may load depends on the page.
  std::string content_security_policy{};
  std::string permissions_policy{};
  std::string cross_origin_opener_policy = "same-origin";
  std::string cross_origin_resource_policy = "same-origin";
  std::string cross_origin_embedder_policy{};  ///< `require-corp` shuts out most foreign images
  /// Strict-Transport-Security, said over TLS only: for so long a browser refuses plain HTTP for
  /// this host. Zero: nothing is said.
  std::chrono::seconds strict_transport{std::chrono::hours(24 * 180)};
  bool strict_transport_subdomains = false;
};

/// Sets what the handler did not set itself.
class SecurityHeaders final {
 public:
  explicit SecurityHeaders(const SecurityHeadersOptions& options);
  void operator()(const Request& request, Response& response) const;

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
  std::string strict_transport_;
};

/// Ends with: std::invalid_argument for a value with a control character.
[[nodiscard]] inline SecurityHeaders security_headers(const SecurityHeadersOptions& options = {}) {
  return SecurityHeaders(options);
}

/// How often each client may ask: `requests` in `per`, spread evenly, after a burst.
struct RateLimitOptions {
  std::size_t requests = 100;  ///< in each `per`
  Duration per = 1min;
  std::size_t burst = 0;  ///< at once, after a pause; zero: as many as `requests`
  /// Who it is; requests with an empty key are not limited. Empty: the client's address without its
  /// port, of IPv6 the first 64 bits, which one customer has all of. Behind a proxy every client
  /// has the proxy's address: say here which field tells who it is.
  std::function<std::string(const Request&)> key{};
  /// Clients that are remembered, 16 bytes each; beyond them, those are forgotten first whose limit
  /// is over or soonest will be.
  std::size_t max_keys = 65'536;
  /// The name of the limit in RateLimit-Policy and RateLimit
  /// (draft-ietf-httpapi-ratelimit-headers); empty: only Retry-After is said.
  std::string policy = "default";
};

/// Answers 429 to who asks too often.
class RateLimit final {
 public:
  explicit RateLimit(const RateLimitOptions& options);
  /// For tests: with a table that has a clock of theirs.
  RateLimit(RateLimitOptions options, std::shared_ptr<middleware::RateTable> table);
  [[nodiscard]] std::optional<Response> guard(Request& request) const;
  void finish(const Request& request, Response& response) const;

 private:
  std::function<std::string(const Request&)> key_;
  std::string name_;    // as it stands in both fields; empty: neither is said
  std::string policy_;  // RateLimit-Policy
  // Shared: copies of the middleware count together.
  std::shared_ptr<middleware::RateTable> table_;
};

/// Ends with: std::invalid_argument for no requests, no time, no keys, and for a policy name that
///            has other than visible ASCII, or a quote or backslash.
/// RFC:       6585 §4
[[nodiscard]] inline RateLimit rate_limit(const RateLimitOptions& options = {}) {
  return RateLimit(options);
}

}  // namespace skua
