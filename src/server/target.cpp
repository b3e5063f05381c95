// SPDX-License-Identifier: MIT
// The one way from a request target to a route, whatever the version of HTTP.
#include "server/target.hpp"

#include "http/authority.hpp"
#include "http/target_path.hpp"
#include "net/stream.hpp"
#include "server/resources.hpp"

namespace skua::server {

Target find_target(Resources& resources, const net::Stream& connection, Method method,
                   std::string_view host, std::string_view path_and_query) {
  const bool is_checked = resources.options.tls.refuses_misdirected_names && !host.empty();
  if (is_checked && !connection.covers(http::host_of(host))) {
    return {Errc::MisdirectedRequest, {}, {}, {}};
  }
  const http::TargetParts split = http::split_target(path_and_query);
  std::vector<char>& scratch = resources.path_scratch;
  if (scratch.size() < split.path.size()) scratch.resize(split.path.size());
  const Result<std::string_view> path = http::canonical_path(split.path, scratch);
  if (!path) return {Errc::MalformedTarget, {}, {}, {}};
  return {Errc::None, *path, split.query, resources.router.match(method, *path)};
}

}  // namespace skua::server
