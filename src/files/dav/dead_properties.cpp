// SPDX-License-Identifier: MIT
// In: properties. Out: the XML document that the attribute of a file holds. What is read is parsed
// and written again for a response: a program on this machine may have put anything there.
#include "files/dav/dead_properties.hpp"

#include <algorithm>
#include <utility>

namespace skua::files {

std::string properties_text(const std::vector<xml::Node>& properties) {
  std::string text;
  if (properties.empty()) return text;
  text = "<properties>";
  for (const xml::Node& property : properties) xml::append(text, property);
  return text.append("</properties>");
}

// The size of the text bounds its nodes. A lower bound could be that of one request, which several
// requests exceed together.
std::vector<xml::Node> parse_properties(std::string_view text) {
  if (text.empty()) return {};
  Result<xml::Node> document = xml::parse(text, {.nodes = max_property_bytes});
  if (!document) return {};
  std::vector<xml::Node> properties = std::move(document->children);
  std::erase_if(properties, [](const xml::Node& node) { return node.is_text(); });
  return properties;
}

std::vector<xml::Node> read_properties(int file) {
  return parse_properties(read_property_attribute(file));
}

Result<void> write_properties(int file, const std::vector<xml::Node>& properties) {
  if (properties.empty() && read_property_attribute(file).empty()) return {};
  const std::string text = properties_text(properties);
  if (text.size() > max_property_bytes) return Error(Errc::BodyTooLong, "properties");
  return write_property_attribute(file, text);
}

void copy_properties(int from, int to) {
  const std::string text = read_property_attribute(from);
  if (!text.empty()) static_cast<void>(write_property_attribute(to, text));
}

}  // namespace skua::files
