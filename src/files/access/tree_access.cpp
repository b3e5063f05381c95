// SPDX-License-Identifier: MIT
// In: a request that a router has matched. Out: what is known of other paths below the folder: the
// mounts whose middleware this request has not passed, and the routes that go before the folder's.
#include "files/access/tree_access.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "http/message/request_parts.hpp"
#include "router/table.hpp"

namespace skua::files {
namespace {

constexpr std::string_view rest_wildcard = "{...}";
constexpr router::MethodSet every_method = (1U << method_count) - 1;

bool is_wildcard(std::string_view segment) noexcept { return segment.starts_with('{'); }
bool is_rest(std::string_view segment) noexcept { return segment.ends_with("...}"); }

// A literal is more specific than a wildcard, and that more than a wildcard for the rest.
int rank(std::string_view segment) noexcept {
  return is_rest(segment) ? 2 : static_cast<int>(is_wildcard(segment));
}

/// Takes a path or a pattern apart.
class Segments {
 public:
  explicit Segments(std::string_view path) noexcept : rest_(path) {}

  [[nodiscard]] bool is_over() const noexcept { return rest_.empty(); }
  std::string_view next() noexcept {
    rest_.remove_prefix(1);  // the slash
    const std::string_view segment = rest_.substr(0, rest_.find('/'));
    rest_.remove_prefix(segment.size());
    return segment;
  }

 private:
  std::string_view rest_;
};

bool matches(std::string_view pattern, std::string_view path) noexcept {
  Segments wanted(pattern);
  Segments found(path);
  while (!wanted.is_over() && !found.is_over()) {
    const std::string_view segment = wanted.next();
    if (is_rest(segment)) return true;
    const std::string_view name = found.next();
    if (is_wildcard(segment) ? name.empty() : segment != name) return false;
  }
  return wanted.is_over() && found.is_over();
}

// `folder` has no slash at its end.
bool may_match_below(std::string_view pattern, std::string_view folder) noexcept {
  Segments wanted(pattern);
  Segments found(folder);
  while (!found.is_over()) {
    if (wanted.is_over()) return false;
    const std::string_view segment = wanted.next();
    if (is_rest(segment)) return true;
    const std::string_view name = found.next();
    if (!is_wildcard(segment) && segment != name) return false;
  }
  return !wanted.is_over();
}

// Returns the pattern of everything below a folder whose URL has the path `base`, if `pattern` is
// that of a route to something in it.
std::string folder_pattern(std::string_view pattern, std::string_view base) {
  std::string result;
  Segments segments(pattern);
  for (auto left = std::ranges::count(base, '/'); left > 0 && !segments.is_over(); --left) {
    const std::string_view segment = segments.next();
    if (is_rest(segment)) break;
    result.append("/").append(segment);
  }
  return result.append("/").append(rest_wildcard);
}

/// The one of two patterns to which a path that matches both belongs.
enum class Owner { Other, Folder, Both };

Owner owner_of_common(std::string_view other, std::string_view folder) noexcept {
  Segments own(folder);
  Segments theirs(other);
  while (true) {
    const std::string_view segment = own.next();
    if (theirs.is_over()) return Owner::Folder;  // it is for the folder's own path, or one above
    const std::string_view name = theirs.next();
    if (is_rest(segment) && name.empty()) return Owner::Folder;  // the folder itself
    if (rank(name) != rank(segment)) {
      return rank(name) < rank(segment) ? Owner::Other : Owner::Folder;
    }
    if (is_rest(segment)) return Owner::Both;
    if (!is_wildcard(segment) && segment != name) return Owner::Folder;
  }
}

// Returns the methods that another route takes from that of the folder, on paths that match both.
router::MethodSet methods_taken(const router::Route& other, const router::Route& route,
                                Owner owner) noexcept {
  switch (owner) {
    case Owner::Other: return other.is_any ? every_method : other.methods;
    case Owner::Folder: return 0;
    case Owner::Both: break;
  }
  // One of any() leaves these to routes that name them. Others share the folder, each with some of
  // the methods, like those of Router::webdav(), and reads of a shared folder show no more of it.
  constexpr router::MethodSet writes = router::bit(Method::Put) | router::bit(Method::Delete);
  return route.is_any ? other.methods & writes : 0;
}

std::string_view without_slash(std::string_view path) noexcept {
  while (path.ends_with('/')) path.remove_suffix(1);
  return path;
}

}  // namespace

TreeAccess::TreeAccess(const Request& request, std::string_view path, std::string_view passed) {
  const http::Captures* const captures = http::RequestAccess::captures(request);
  if (captures == nullptr || captures->route == nullptr) return;
  if (path == "/" && !request.path().ends_with('/')) path = {};
  // The handler's program has chosen another path than that of the URL.
  if (!request.path().ends_with(path)) return;
  base_ = without_slash(request.path().substr(0, request.path().size() - path.size()));
  const auto& route = static_cast<const router::Route&>(*captures->route);
  for (const auto& scope : route.table->scopes()) {
    const bool has_guards = !scope->steps.empty();
    if (!has_guards && !scope->own_limits.body_bytes) continue;
    if (router::is_below(passed, scope->prefix)) continue;
    mounts_.push_back({scope->prefix, has_guards});
  }
  const std::string folder = folder_pattern(route.pattern, base_);
  for (const auto& other : route.table->routes()) {
    for (const std::string* const pattern : {&other->pattern, &other->alias}) {
      if (pattern->empty()) continue;
      const auto methods = methods_taken(*other, route, owner_of_common(*pattern, folder));
      if (methods != 0) routes_.push_back({*pattern, methods});
    }
  }
}

bool TreeAccess::allows(Method method, std::string_view path) const {
  if (!has_exceptions()) return true;
  const std::string url = base_ + std::string(path);
  const bool is_read = method == Method::Get || method == Method::Propfind;
  for (const Mount& mount : mounts_) {
    if ((mount.has_guards || !is_read) && router::is_below(url, mount.prefix)) return false;
  }
  return std::ranges::none_of(routes_, [&](const OtherRoute& route) {
    return (route.methods & router::bit(method)) != 0 && matches(route.pattern, url);
  });
}

bool TreeAccess::is_guarded(std::string_view path) const {
  const std::string url = base_ + std::string(path);
  return std::ranges::any_of(mounts_, [&url](const Mount& mount) {
    return mount.has_guards && router::is_below(url, mount.prefix);
  });
}

bool TreeAccess::has_exceptions_below(std::string_view folder) const {
  const std::string url = base_ + std::string(without_slash(folder));
  return std::ranges::any_of(mounts_,
                             [&url](const Mount& mount) {
                               return router::is_below(mount.prefix, url) ||
                                      router::is_below(url, mount.prefix);
                             }) ||
         std::ranges::any_of(routes_, [&url](const OtherRoute& route) {
           return may_match_below(route.pattern, url);
         });
}

}  // namespace skua::files
