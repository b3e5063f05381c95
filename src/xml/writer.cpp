// SPDX-License-Identifier: MIT
// In: text of any bytes, and trees. Out: well-formed XML, whatever the text is.
#include <cstdint>

#include "xml/xml.hpp"

namespace skua::xml {
namespace {

constexpr std::string_view replacement = "\uFFFD";

struct Sequence {
  unsigned size_bytes;
  std::uint32_t least;  // smaller numbers would be an overlong form
  std::uint32_t bits;   // of the first byte
};

// RFC 3629 §3
constexpr Sequence sequence_of(std::uint8_t first) noexcept {
  if (first < 0x80) return {1, 0, first};
  if (first >= 0xC0 && first < 0xE0) return {2, 0x80, first & 0x1FU};
  if (first >= 0xE0 && first < 0xF0) return {3, 0x800, first & 0x0FU};
  if (first >= 0xF0 && first < 0xF8) return {4, 0x1'0000, first & 0x07U};
  return {0, 0, 0};
}

// XML 1.0 §2.2
constexpr bool is_character(std::uint32_t c) noexcept {
  if (c < 0x20) return c == '\t' || c == '\n' || c == '\r';
  return c <= 0x10'FFFF && (c < 0xD800 || c > 0xDFFF) && c != 0xFFFE && c != 0xFFFF;
}

// Returns the size of the XML character at the start of a text, or 0 if there is none.
std::size_t character_bytes(std::string_view text) noexcept {
  const Sequence sequence = sequence_of(static_cast<std::uint8_t>(text.front()));
  if (sequence.size_bytes == 0 || sequence.size_bytes > text.size()) return 0;
  std::uint32_t character = sequence.bits;
  for (const char tail : text.substr(1, sequence.size_bytes - 1)) {
    const auto byte = static_cast<std::uint8_t>(tail);
    if ((byte & 0xC0U) != 0x80) return 0;
    character = character << 6U | (byte & 0x3FU);
  }
  return character >= sequence.least && is_character(character) ? sequence.size_bytes : 0;
}

std::string_view reference(char c, bool is_value) noexcept {
  switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";  // `]]>` must not be in a text
    case '\r': return "&#13;";
    case '"': return is_value ? "&quot;" : "";
    case '\t': return is_value ? "&#9;" : "";
    case '\n': return is_value ? "&#10;" : "";
    default: return "";
  }
}

void append_escaped(std::string& out, std::string_view text, bool is_value) {
  while (!text.empty()) {
    const std::size_t size_bytes = character_bytes(text);
    const std::string_view escaped = reference(text.front(), is_value);
    if (size_bytes == 0) {
      out.append(replacement);
    } else {
      out.append(escaped.empty() ? text.substr(0, size_bytes) : escaped);
    }
    text.remove_prefix(size_bytes == 0 ? 1 : size_bytes);
  }
}

// Prefixes are only unique in one tag, which is enough.
void append_attribute(std::string& out, const Attribute& attribute, std::size_t number) {
  const Name& name = attribute.name;
  std::string prefix;
  if (name.space == namespace_of_xml) {
    prefix = "xml:";
  } else if (!name.space.empty()) {
    prefix = "a" + std::to_string(number);
    out.append(" xmlns:").append(prefix).append("=\"");
    append_value(out, name.space);
    out += '"';
    prefix += ':';
  }
  out.append(" ").append(prefix).append(name.local).append("=\"");
  append_value(out, attribute.value);
  out += '"';
}

}  // namespace

void append_text(std::string& out, std::string_view text) { append_escaped(out, text, false); }

void append_value(std::string& out, std::string_view text) { append_escaped(out, text, true); }

void append(std::string& out, const Node& node, std::string_view space) {
  if (node.is_text()) return append_text(out, node.text);
  const Name& name = node.name;
  // This namespace has its prefix everywhere, and may not be declared as the default one.
  const bool is_of_xml = name.space == namespace_of_xml;
  const std::string_view own_space = is_of_xml ? space : name.space;
  const std::string tag = (is_of_xml ? "xml:" : "") + name.local;
  out.append("<").append(tag);
  if (own_space != space) {
    out.append(" xmlns=\"");
    append_value(out, own_space);
    out += '"';
  }
  for (std::size_t i = 0; i < node.attributes.size(); ++i) {
    append_attribute(out, node.attributes[i], i);
  }
  if (node.children.empty()) {
    out += "/>";
    return;
  }
  out += '>';
  for (const Node& child : node.children) append(out, child, own_space);
  out.append("</").append(tag).append(">");
}

}  // namespace skua::xml
