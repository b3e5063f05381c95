// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "router/tree.hpp"
#include "skua/method.hpp"
#include "skua/request.hpp"

namespace skua::files {

/// The paths below a served folder that a request may touch besides its own: those for which the
/// router would ask no other guard than this request has passed, and would choose no other route.
/// Archives, listings, copies and whatever else follows a tree ask for each path.
///
/// It has all that it needs of the router, so it may be used after the request, on any thread.
class TreeAccess final {
 public:
  /// Allows everything, as for a request that no router has matched.
  TreeAccess() = default;
  /// `path` is the one below the folder, as of FileSite::answer().
  TreeAccess(const Request& request, std::string_view path)
      : TreeAccess(request, path, request.path()) {}
  /// Like the other, for a request that will have the path `passed` in its URL.
  TreeAccess(const Request& request, std::string_view path, std::string_view passed);

  /// Reports whether a request with this method for `path`, below the folder, would be answered by
  /// this site, after no other guards. The path of a folder ends with a slash.
  [[nodiscard]] bool allows(Method method, std::string_view path) const;
  /// Reports whether other guards protect a path.
  [[nodiscard]] bool is_guarded(std::string_view path) const;
  /// Reports whether there may be paths below a folder that are not allowed.
  [[nodiscard]] bool has_exceptions_below(std::string_view folder) const;
  /// Reports whether a listing shows a name: that of a folder which another route serves is shown,
  /// as its URL works.
  [[nodiscard]] bool shows(Method method, std::string_view path, bool is_folder) const {
    return is_folder ? !is_guarded(path) : allows(method, path);
  }
  [[nodiscard]] bool has_exceptions() const noexcept {
    return !mounts_.empty() || !routes_.empty();
  }

 private:
  struct Mount {
    std::string prefix{};
    bool has_guards = false;  // otherwise it has limits, which matter to what is written
  };
  struct OtherRoute {
    std::string pattern{};
    router::MethodSet methods = 0;
  };

  std::string base_{};  // the path of the folder's URL, without a slash at its end
  std::vector<Mount> mounts_{};
  std::vector<OtherRoute> routes_{};
};

}  // namespace skua::files
