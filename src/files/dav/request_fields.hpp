// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/request.hpp"
#include "skua/status.hpp"

/// The fields of requests that only WebDAV has. RFC 4918 §10
namespace skua::files {

enum class Depth : std::uint8_t { Zero, One, Infinity };

/// Returns the Depth of a request, which is infinity if it has none; nullopt if it is malformed.
std::optional<Depth> depth_of(const Request& request) noexcept;

/// Returns whether a name that is taken may be replaced; nullopt if the field is malformed.
std::optional<bool> overwrite_of(const Request& request) noexcept;

/// Returns the path, below the folder whose URL has the path `prefix`, that a URL names. It is
/// canonical as the path of a request is, so it never climbs.
///
/// Ends with: 400 if it is malformed, or has a query or a fragment; 502 if it is on another host;
///            403 if it is not below the folder.
Result<std::string, Status> path_of_url(std::string_view url, const Request& request,
                                        std::string_view prefix);

/// The conditions of the field If: lists, of which one must hold.
class IfField final {
 public:
  /// Returns nullopt if the field is malformed.
  ///
  /// Lifetime:  `text` outlives it.
  static std::optional<IfField> parse(std::string_view text SKUA_LIFETIMEBOUND);

  /// Returns the entity tag of the resource at a URL, or of that of the request for an empty URL;
  /// empty if it has none.
  using Lookup = std::function<std::string(std::string_view url)>;

  /// Reports whether one of the lists holds. No state token ever matches, because there are no
  /// locks.
  [[nodiscard]] bool holds(const Lookup& etag_of) const;

 private:
  struct Condition {
    bool is_negated = false;
    std::string_view etag{};  // empty: a state token
  };
  struct List {
    std::string_view url{};
    std::vector<Condition> conditions{};
  };
  class Parser;

  std::vector<List> lists_;
};

}  // namespace skua::files
