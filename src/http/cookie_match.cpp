// SPDX-License-Identifier: MIT
// In: the host and path of a request and of a cookie. Out: whether they match. Texts are compared
// as they are: paths keep the percent-encoding of the request.
#include "http/cookie_match.hpp"

namespace skua::http {

bool domain_matches(std::string_view host, std::string_view domain) noexcept {
  if (!host.ends_with(domain)) return false;
  return host.size() == domain.size() ||
         (!domain.empty() && host[host.size() - domain.size() - 1] == '.');
}

bool path_matches(std::string_view request_path, std::string_view cookie_path) noexcept {
  if (!request_path.starts_with(cookie_path)) return false;
  return request_path.size() == cookie_path.size() || cookie_path.ends_with('/') ||
         request_path[cookie_path.size()] == '/';
}

std::string_view default_cookie_path(std::string_view request_path) noexcept {
  const std::size_t slash = request_path.rfind('/');
  if (!request_path.starts_with('/') || slash == 0) return "/";
  return request_path.substr(0, slash);
}

bool has_owner_label(std::string_view domain) noexcept {
  return !domain.starts_with('.') && !domain.ends_with('.') && domain.find('.') != domain.npos &&
         domain.find("..") == domain.npos;
}

}  // namespace skua::http
