// SPDX-License-Identifier: MIT
// In: a request that came in plain text. Out: the same URL with https. Nothing of the request is
// decoded or repaired on its way into Location; what could not stand there is refused.
#include "skua/https_redirect.hpp"

#include <string>
#include <string_view>

#include "http/authority.hpp"
#include "skua/error.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"

namespace skua {
namespace {

// What follows the authority of a target in origin-form or in absolute-form. RFC 9112 §3.2
std::string_view path_and_query(std::string_view target) noexcept {
  if (target.starts_with('/')) return target;
  const std::size_t authority = target.find("://");
  const std::size_t end =
      authority == target.npos ? target.npos : target.find_first_of("/?", authority + 3);
  return end == target.npos ? std::string_view("/") : target.substr(end);
}

Response redirected(const Request& request, std::string_view port) {
  const std::string_view host = request.host();
  // RFC 9112 §3.2; also keeps out of Location whatever would make another place of it.
  if (!http::is_authority(host)) return Error(Errc::InvalidHost);
  std::string location("https://");
  location.append(http::host_of(host)).append(port).append(path_and_query(request.target()));
  return Response::redirect(location, Status::PermanentRedirect);
}

// A coroutine handler, as a plain one would have to wait for content that nobody wants.
struct Redirect {
  std::string port;  // `:8443`; empty: that of https

  Task<Response> operator()(Request& request) const { co_return redirected(request, port); }
};

}  // namespace

Router redirect_to_https(std::uint16_t port) {
  Router router;
  router.any("/{path...}", Redirect{port == 443 ? "" : ":" + std::to_string(port)});
  return router;
}

}  // namespace skua
