// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "skua/error.hpp"
#include "xml/xml.hpp"

/// Properties that clients invent, RFC 4918 §4. All of a file are one extended attribute, so that a
/// change of several is made as a whole or not at all.
namespace skua::files {

/// The most bytes of the properties of a file, as XML.
inline constexpr std::size_t max_property_bytes = 16'384;

/// Returns properties as a document; empty for none.
std::string properties_text(const std::vector<xml::Node>& properties);
/// Returns the properties of such a document of at most max_property_bytes; none if it is anything
/// else.
std::vector<xml::Node> parse_properties(std::string_view text);

/// Returns the properties of an open file or folder; none if it has none, if the file system has no
/// extended attributes, or if the attribute is not one of ours.
std::vector<xml::Node> read_properties(int file);

/// Replaces the properties of an open file or folder. Making none of none always succeeds.
///
/// Ends with: BodyTooLong for too many, Unsupported without extended attributes, and the system's
///            errors: ENOSPC, EACCES.
Result<void> write_properties(int file, const std::vector<xml::Node>& properties);

/// Gives one file the properties of another, as far as its file system can hold them.
void copy_properties(int from, int to);

/// Returns the attribute; empty if there is none, or if it is longer than our own are.
std::string read_property_attribute(int file);
/// Sets the attribute, or removes it if `text` is empty.
Result<void> write_property_attribute(int file, std::string_view text);

}  // namespace skua::files
