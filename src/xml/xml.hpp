// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "skua/error.hpp"

/// XML 1.0 with namespaces, as small documents of peers: never with a document type, so that
/// nothing in them can be expanded or loaded.
namespace skua::xml {

/// A name and its namespace, which may be empty.
struct Name {
  std::string space{};
  std::string local{};

  friend bool operator==(const Name&, const Name&) = default;
};

struct Attribute {
  Name name{};
  std::string value{};

  friend bool operator==(const Attribute&, const Attribute&) = default;
};

/// An element, or a text between elements, which has no name.
struct Node {
  Name name{};
  std::vector<Attribute> attributes{};
  std::vector<Node> children{};
  std::string text{};

  [[nodiscard]] bool is_text() const noexcept { return name.local.empty(); }

  friend bool operator==(const Node&, const Node&) = default;
};

inline constexpr std::string_view namespace_of_xml = "http://www.w3.org/XML/1998/namespace";

/// The bounds of a document; what exceeds one is malformed.
struct ParseLimits {
  std::size_t depth = 32;
  std::size_t nodes = 5000;  ///< elements, attributes and texts
};

/// Reports whether this build can parse XML.
bool is_available() noexcept;

/// Returns the root of a document. Comments and processing instructions are dropped.
///
/// Ends with: MalformedText if it is not well-formed, has a document type, or exceeds a limit;
///            Unsupported in a build without expat; OutOfMemory.
Result<Node> parse(std::string_view document, const ParseLimits& limits = {});

/// Appends text. Octets that no XML document can have (control characters, invalid UTF-8,
/// noncharacters) become U+FFFD.
void append_text(std::string& out, std::string_view text);

/// Appends text as the value of an attribute, without the quotes.
void append_value(std::string& out, std::string_view text);

/// Appends a node that declares each namespace it uses. `space` is the default namespace where it
/// is put. Names are those of a parsed document.
void append(std::string& out, const Node& node, std::string_view space = {});

}  // namespace skua::xml
