// SPDX-License-Identifier: MIT
// The public ReverseProxy: registers routes whose requests forward() passes on.
#include "skua/reverse_proxy.hpp"

#include <utility>

#include "proxy/forward.hpp"
#include "proxy/upstream.hpp"

namespace skua {

ReverseProxy::ReverseProxy(std::string_view upstream, const ReverseProxyOptions& options)
    : upstream_(std::make_shared<const proxy::Upstream>(upstream, options)) {}

Task<Response> ReverseProxy::operator()(Request& request, std::string_view rest) const {
  return proxy::forward(*upstream_, request, rest);
}

void proxy::add_routes(Router& router, const Prefix& prefix, const ReverseProxy& handler,
                       Router::Where where) {
  Router routes;
  routes.any("/", [handler](Request& request) { return handler(request, {}); }, where);
  routes.any("/{path...}", handler, where);
  router.mount(prefix, std::move(routes));
}

void reverse_proxy(Router& router, Prefix prefix, std::string_view upstream,
                   const ReverseProxyOptions& options, Router::Where where) {
  proxy::add_routes(router, prefix, ReverseProxy(upstream, options), where);
}

}  // namespace skua
