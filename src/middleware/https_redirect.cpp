// SPDX-License-Identifier: MIT
// In: a request over plain HTTP. Out: a redirect to the same URL with https. The target is copied
// into Location without decoding or repair. An invalid host is refused, and so is a host that is
// not ours: a cache in front would serve the redirect to others.
#include "skua/https_redirect.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.hpp"
#include "http/uri/authority.hpp"
#include "skua/error.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"

namespace skua {
namespace {

// Returns the part of an origin-form or absolute-form target after the authority. RFC 9112 §3.2
std::string_view path_and_query(std::string_view target) noexcept {
  if (target.starts_with('/')) return target;
  const std::size_t authority = target.find("://");
  const std::size_t end =
      authority == target.npos ? target.npos : target.find_first_of("/?", authority + 3);
  return end == target.npos ? std::string_view("/") : target.substr(end);
}

constexpr std::string_view any_host = "*";
constexpr std::string_view any_label = "*.";

// Reports whether a host matches a pattern of the options.
bool stands_for(std::string_view pattern, std::string_view host) noexcept {
  if (pattern == any_host) return true;
  if (host.ends_with('.')) host.remove_suffix(1);  // a fully qualified name
  if (pattern.starts_with(any_label)) {
    const std::size_t dot = host.find('.');
    if (dot == host.npos || dot == 0) return false;
    host.remove_prefix(dot + 1);
    pattern.remove_prefix(any_label.size());
  }
  return ascii::equals_ignoring_case(pattern, host);
}

void check_hosts(const std::vector<std::string>& hosts) {
  if (hosts.empty()) throw std::invalid_argument("HttpsRedirectOptions: no hosts are listed");
  for (const std::string& pattern : hosts) {
    if (pattern == any_host && hosts.size() == 1) continue;
    std::string_view host = pattern;
    if (host.starts_with(any_label)) host.remove_prefix(any_label.size());
    const bool is_host = http::is_authority(host) && http::host_of(host) == host &&
                         host.find('*') == host.npos && !host.ends_with('.');
    if (!is_host) {
      throw std::invalid_argument("HttpsRedirectOptions: " + pattern +
                                  " is not a host, like example.com or *.example.com");
    }
  }
}

std::string port_text(std::uint16_t port) {
  return port == 443 ? std::string() : ":" + std::to_string(port);
}

Response redirect(const Request& request, const std::vector<std::string>& hosts,
                  const std::string& port) {
  const std::string_view authority = request.requested_host();
  // RFC 9112 §3.2; also keeps characters out of Location that would change its destination.
  if (!http::is_authority(authority)) return Error(Errc::InvalidHost);
  const std::string_view host = http::host_of(authority);
  const auto is_ours = [host](const std::string& pattern) { return stands_for(pattern, host); };
  if (std::none_of(hosts.begin(), hosts.end(), is_ours)) return Error(Errc::MisdirectedRequest);
  std::string location("https://");
  location.append(host).append(port).append(path_and_query(request.target()));
  return Response::redirect(location, Status::PermanentRedirect);
}

// A coroutine handler, because a plain one would have to wait for unwanted content.
struct Redirect {
  HttpsOnly guard;

  Task<Response> operator()(Request& request) const {
    std::optional<Response> answer = guard(request);
    // A redirect would come back: the client has used https.
    if (!answer) answer.emplace(Error(Errc::MisdirectedRequest));
    co_return *std::move(answer);
  }
};

}  // namespace

HttpsOnly::HttpsOnly(HttpsRedirectOptions options) : port_(port_text(options.port)) {
  check_hosts(options.hosts);
  hosts_ = std::move(options.hosts);
}

std::optional<Response> HttpsOnly::operator()(Request& request) const {
  if (request.scheme() == "https") return std::nullopt;
  return redirect(request, hosts_, port_);
}

Router redirect_to_https(HttpsRedirectOptions options) {
  Router router;
  router.any("/{path...}", Redirect{HttpsOnly(std::move(options))});
  return router;
}

}  // namespace skua
