// SPDX-License-Identifier: MIT
// In: a document, or a text. Checked: a document keeps to its limits, and its tree survives being
// written and parsed; any bytes can be a text, of which nothing is lost that a document can have.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ws/utf8.hpp"
#include "xml/xml.hpp"

namespace {

namespace xml = skua::xml;

constexpr xml::ParseLimits small{.depth = 6, .nodes = 40};

void check(bool holds) {
  if (!holds) std::abort();
}

void measure(const xml::Node& node, std::size_t depth, std::size_t& count) {
  count += 1 + node.attributes.size();
  if (node.is_text()) {
    check(!node.text.empty() && node.attributes.empty() && node.children.empty());
    return;
  }
  check(node.text.empty() && depth <= small.depth);
  for (const xml::Node& child : node.children) measure(child, depth + 1, count);
}

void read_document(std::string_view text) {
  const auto root = xml::parse(text, small);
  if (!root) return;
  std::size_t count = 0;
  measure(*root, 1, count);
  check(!root->is_text() && count <= small.nodes);
  std::string written;
  xml::append(written, *root);
  check(skua::ws::is_utf8(written));
  const auto again = xml::parse(written, small);
  check(again && *again == *root);
  // Below an element with a default namespace, too.
  std::string inside = "<x xmlns='urn:x'>";
  xml::append(inside, *root, "urn:x");
  const auto outer = xml::parse(inside + "</x>");
  check(outer && outer->children.size() == 1 && outer->children[0] == *root);
}

std::string without_references(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    if (text.front() != '&') {
      plain += text.front();
      text.remove_prefix(1);
      continue;
    }
    const std::string_view name = text.substr(0, text.find(';') + 1);
    text.remove_prefix(name.size());
    plain += name == "&amp;"    ? '&'
             : name == "&lt;"   ? '<'
             : name == "&gt;"   ? '>'
             : name == "&quot;" ? '"'
             : name == "&#9;"   ? '\t'
             : name == "&#10;"  ? '\n'
                                : '\r';
  }
  return plain;
}

bool is_possible(std::string_view text) {
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
  };
  return skua::ws::is_utf8(text) && std::ranges::none_of(text, is_control) &&
         text.find("\uFFFE") == text.npos && text.find("\uFFFF") == text.npos;
}

void write_text(std::string_view text) {
  std::string content;
  xml::append_text(content, text);
  std::string value;
  xml::append_value(value, text);
  check(content.find_first_of("<>\r") == content.npos);
  check(value.find_first_of("<>\"\t\r\n") == value.npos);
  const std::string plain = without_references(content);
  check(plain == without_references(value) && is_possible(plain));
  check((plain == text) == is_possible(text));
  if (!xml::is_available()) return;
  const auto root = xml::parse("<a b=\"" + value + "\">" + content + "</a>");
  check(root && root->attributes.size() == 1 && root->attributes[0].value == plain);
  check(plain.empty() ? root->children.empty()
                      : root->children.size() == 1 && root->children[0].text == plain);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read_document(text);
  write_text(text);
  return 0;
}
