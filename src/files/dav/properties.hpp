// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.hpp"
#include "files/file_head.hpp"
#include "skua/error.hpp"
#include "skua/status.hpp"
#include "xml/xml.hpp"

namespace skua::files {

/// The properties that a PROPFIND asks for. RFC 4918 §14.20
struct PropertyQuery {
  enum class Kind : std::uint8_t { All, Names, Named };

  Kind kind = Kind::All;
  std::vector<xml::Name> names{};  ///< of Named

  /// Reads the content of the request; that of an empty one is for all properties.
  ///
  /// Ends with: MalformedText, also for more than 128 names; errors of xml::parse().
  static Result<PropertyQuery> parse(std::string_view content);

  /// Reports whether the answer may need properties other than those of every file.
  [[nodiscard]] bool needs_dead() const noexcept;
};

/// A file or folder as PROPFIND shows it.
struct DavResource {
  std::string path{};  ///< of its URL, decoded; a folder's ends with a slash
  disk::FileStat stat{};
  std::vector<xml::Node> dead{};
};

/// Appends the `<D:response>` of a resource.
void append_resource(std::string& out, const DavResource& resource, const PropertyQuery& query,
                     WallTime now);

/// One change of a PROPPATCH.
struct PropertyChange {
  bool removes = false;
  xml::Node property{};
};

/// Reads the content of a PROPPATCH, in its order; at least one change. RFC 4918 §14.19
///
/// Ends with: MalformedText; errors of xml::parse().
Result<std::vector<PropertyChange>> parse_property_changes(std::string_view content);

/// Makes the changes in a list of properties. Returns false, having changed nothing, if one is of a
/// property of ours, which no client can change.
bool apply_changes(std::vector<xml::Node>& properties, const std::vector<PropertyChange>& changes);

/// Returns the 207 of a PROPPATCH. `failure` is why no change was made; nullopt if all were.
std::string changes_text(std::string_view path, const std::vector<PropertyChange>& changes,
                         std::optional<Status> failure);

}  // namespace skua::files
