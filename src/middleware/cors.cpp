// SPDX-License-Identifier: MIT
// In: a request with an Origin. Out: the fields by which a browser decides whether a page of that
// origin may read the response. Nothing is refused here: CORS only relaxes the browser's own
// restrictions, and a request from a disallowed origin is answered like any other.
#include <algorithm>
#include <stdexcept>

#include "base/ascii.hpp"
#include "http/uri/authority.hpp"
#include "skua/middleware.hpp"

namespace skua {
namespace {

constexpr std::string_view requested_method = "Access-Control-Request-Method";
constexpr std::string_view requested_headers = "Access-Control-Request-Headers";
constexpr const char* not_a_field = "cors: not a field name";

// Expects a request with an Origin. Fetch, "CORS-preflight request".
bool is_preflight(const Request& request) noexcept {
  return request.method() == Method::Options && request.header(requested_method).has_value();
}

// RFC 6454 §6.2: scheme, host and port as a browser serializes them; nothing else would ever match.
// Requires a valid authority, so that a predicate may safely test the end of the host.
bool is_origin(std::string_view text) noexcept {
  constexpr std::string_view separator = "://";
  const std::size_t colon = text.find(separator);
  if (colon == text.npos || colon == 0) return false;
  const std::string_view scheme = text.substr(0, colon);
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_scheme_letter = [&](char c) {
    return is_lower(c) || ascii::is_digit(c) || c == '+' || c == '-' || c == '.';
  };
  const std::string_view authority = text.substr(colon + separator.size());
  return is_lower(scheme.front()) && std::all_of(scheme.begin(), scheme.end(), is_scheme_letter) &&
         std::all_of(authority.begin(), authority.end(),
                     [](char c) { return c == ascii::to_lower(c) && c != '*'; }) &&
         http::is_authority(authority);
}

void check_origin(std::string_view origin) {
  if (origin == "null" || is_origin(origin)) return;
  throw std::invalid_argument("cors: " + std::string(origin) +
                              " is not an origin, like https://example.com");
}

std::string joined(const std::vector<std::string>& names, const char* otherwise) {
  std::string text;
  for (const std::string& name : names) {
    if (!ascii::is_token_text(name)) throw std::invalid_argument(otherwise);
    if (!text.empty()) text.append(", ");
    text.append(name);
  }
  return text;
}

}  // namespace

Cors::Cors(CorsOptions options) : options_(std::move(options)) {
  const auto& origins = options_.origins;
  is_any_origin_ = std::find(origins.begin(), origins.end(), "*") != origins.end();
  if (is_any_origin_ && (origins.size() != 1 || options_.allow_origin)) {
    throw std::invalid_argument("cors: * must be the only origin");
  }
  // Otherwise any page could act on behalf of its visitor.
  if (is_any_origin_ && options_.credentials) {
    throw std::invalid_argument("cors: * cannot be combined with credentials; list the origins");
  }
  if (origins.empty() && !options_.allow_origin) {
    throw std::invalid_argument("cors: no origin is allowed");
  }
  if (!is_any_origin_) std::for_each(origins.begin(), origins.end(), check_origin);
  for (const Method method : options_.methods) {
    if (!methods_.empty()) methods_.append(", ");
    methods_.append(name(method));
  }
  if (!options_.other_methods.empty()) {
    if (!methods_.empty()) methods_.append(", ");
    methods_.append(joined(options_.other_methods, "cors: not a method"));
  }
  is_any_header_ = options_.headers.size() == 1 && options_.headers.front() == "*";
  if (!is_any_header_) headers_ = joined(options_.headers, not_a_field);
  exposed_ = joined(options_.exposed, not_a_field);
}

bool Cors::is_allowed(std::string_view origin) const {
  const auto& origins = options_.origins;
  if (is_any_origin_ || std::find(origins.begin(), origins.end(), origin) != origins.end()) {
    return true;
  }
  return options_.allow_origin && is_origin(origin) && options_.allow_origin(origin);
}

std::optional<Response> Cors::guard(Request& request) const {
  const auto origin = request.header("Origin");
  if (!origin || !is_preflight(request)) return std::nullopt;
  Response response(Status::NoContent);
  // A cache must not answer one preflight with the response to another.
  response.vary(requested_method).vary(requested_headers);
  if (!is_allowed(*origin)) return response;
  if (!methods_.empty()) response.header("Access-Control-Allow-Methods", methods_);
  if (is_any_header_) {
    if (const auto wanted = request.header(requested_headers)) {
      response.header("Access-Control-Allow-Headers", *wanted);
    }
  } else if (!headers_.empty()) {
    response.header("Access-Control-Allow-Headers", headers_);
  }
  if (options_.max_age >= std::chrono::seconds::zero()) {
    response.header("Access-Control-Max-Age", std::to_string(options_.max_age.count()));
  }
  if (options_.private_network &&
      request.header("Access-Control-Request-Private-Network") == "true") {
    response.header("Access-Control-Allow-Private-Network", "true");
  }
  return response;
}

void Cors::finish(const Request& request, Response& response) const {
  const auto origin = request.header("Origin");
  if (is_any_origin_) {
    response.header("Access-Control-Allow-Origin", "*");
  } else {
    // Needed without an Origin too: a cache would otherwise reuse that response for allowed pages.
    response.vary("Origin");
    if (!origin || !is_allowed(*origin)) return;
    response.header("Access-Control-Allow-Origin", *origin);
    if (options_.credentials) response.header("Access-Control-Allow-Credentials", "true");
  }
  if (!exposed_.empty() && !(origin && is_preflight(request))) {
    response.header("Access-Control-Expose-Headers", exposed_);
  }
}

}  // namespace skua
