// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "coding/coding.hpp"
#include "http/message/field.hpp"
#include "http/message/request_parts.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/router.hpp"

/// The parts of an answer that folders on disk and in memory have in common.
namespace skua::files {

inline const http::Head& head_of(const Request& request) noexcept {
  return *http::RequestAccess::parts(request).head;
}

/// Returns 405 for methods other than GET and HEAD.
std::optional<Response> refuse_method(const Request& request);

/// Returns a decoded path as a URL. It never begins with two slashes, which would name another
/// host.
std::string url_of(std::string_view path);

/// Redirects to the same path with a slash at its end, which the relative links of an index need.
Response redirect_to_folder(const Request& request, std::string_view cache_control);

/// Returns the part of the path below the folder that a route serves, with its leading slash: the
/// match of the route's rest wildcard, or the whole path if it has none.
std::string_view path_below_route(const Request& request) noexcept;

/// Returns the routes below a prefix that a site of any kind answers; `/prefix` itself is
/// redirected to `/prefix/`.
template <typename Site>
Router folder_routes(const std::shared_ptr<const Site>& site, Router::Where where) {
  Router routes;
  const auto answer_prefix = [site](const Request& request) {
    return site->answer(request, request.path().ends_with('/') ? "/" : "");
  };
  const auto answer = [site](const Request& request) {
    return site->answer(request, path_below_route(request));
  };
  routes.get("/", answer_prefix, where);
  routes.get("/{path...}", answer, where);
  return routes;
}

/// Codings that a request accepts, in the order in which it prefers them. On a tie, that with the
/// smallest results comes first.
class PreferredCodings {
 public:
  static constexpr std::array all = {coding::Coding::Brotli, coding::Coding::Zstd,
                                     coding::Coding::Gzip};

  explicit PreferredCodings(const Request& request SKUA_LIFETIMEBOUND) noexcept;

  /// Returns the next one; nullopt at the end, and if the request prefers plain content.
  std::optional<coding::Coding> next() noexcept;

 private:
  const Request& request_;
  std::array<std::string_view, all.size()> names_;
  std::size_t count_ = 0;
};

}  // namespace skua::files
