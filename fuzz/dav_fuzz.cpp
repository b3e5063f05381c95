// SPDX-License-Identifier: MIT
// In: a field of WebDAV, or the content of PROPFIND or PROPPATCH. Checked: a condition means what a
// slow and simple evaluation of it means, paths lie below their folder, properties survive being
// kept, and answers are well-formed.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/dav/dead_properties.hpp"
#include "files/dav/multistatus.hpp"
#include "files/dav/properties.hpp"
#include "files/dav/request_fields.hpp"
#include "files/safe_path.hpp"
#include "skua/testing.hpp"
#include "skua/url.hpp"

namespace {

namespace files = skua::files;
namespace xml = skua::xml;

void check(bool holds) {
  if (!holds) std::abort();
}

std::string tag_of(std::string_view url) { return url.empty() ? "\"a\"" : "\"b]\""; }

bool holds(const std::string& text) {
  const auto field = files::IfField::parse(text);
  check(field.has_value());
  return field->holds(tag_of);
}

// Whatever a field is, these additions do what they do to any.
void read_condition(const std::string& text) {
  const auto field = files::IfField::parse(text);
  check(!files::IfField::parse(text + "x") && !files::IfField::parse(text + " ("));
  if (!field) return;
  const bool is_true = field->holds(tag_of);
  check(holds(text + "(<urn:x>)") == is_true);
  check(holds(text + " (Not <urn:x>)"));
  check(holds("\t" + text + " ") == is_true);
  const bool is_tagged = text.find_first_not_of(" \t") == text.find('<');
  check(files::IfField::parse(text + "</b>([\"b]\"])").has_value() == is_tagged);
  check(!is_tagged || holds(text + "</b>([\"b]\"])"));
}

// Each byte adds a condition; the field and its meaning are made side by side.
void make_condition(std::string_view bytes) {
  constexpr std::string_view texts[] = {"[\"a\"]",   "[\"b]\"]", "<urn:x>",
                                        "[W/\"a\"]", "[\"\"]",   "[\"c\"]"};
  bool is_true = false;
  bool is_list_true = true;
  bool is_tagged = false;
  std::string field = bytes.size() % 2 == 0 ? "" : "</b> ";
  is_tagged = !field.empty();
  field += '(';
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto octet = static_cast<unsigned char>(bytes[i]);
    const unsigned which = octet % std::size(texts);
    const bool is_negated = octet >= 128;
    // Without a tag, the weak form of the file's strong tag names the same version.
    const bool is_equal = is_tagged ? which == 1 : which == 0 || which == 3;
    field.append(is_negated ? "Not" : "").append(texts[which]);
    is_list_true = is_list_true && is_equal != is_negated;
    if (octet % 32 < 16 && i + 1 < bytes.size()) {
      field += octet % 2 == 0 ? ") (" : ")(";
      is_true = is_true || is_list_true;
      is_list_true = true;
    }
  }
  if (!bytes.empty()) check(holds(field + ")") == (is_true || is_list_true));
}

void read_fields(const std::string& text) {
  if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; })) {
    return;
  }
  skua::testing::FakeRequest fake("PROPFIND /dav/a");
  try {
    fake.header("Host", "example.com").header("Depth", text).header("Overwrite", text);
  } catch (const std::invalid_argument&) {
    return;
  }
  const skua::Request& request = fake.request();
  const auto depth = files::depth_of(request);
  check(!depth || text == "0" || text == "1" || text.size() == 8);
  const auto overwrite = files::overwrite_of(request);
  check(!overwrite || text == "T" || text == "t" || text == "F" || text == "f");
  const auto path = files::path_of_url(text, request, "/dav");
  if (!path) return;
  check(path->starts_with('/') && path->find_first_of("\\\n") == path->npos);
  const std::string walled = *path + "/";
  check(walled.find("/../") == walled.npos && walled.find("/./") == walled.npos);
  const std::string whole = "/dav" + *path;
  for (const std::string_view host : {"", "http://example.com", "http://EXAMPLE.com:80"}) {
    const std::string url = std::string(host) + skua::percent_encode(whole, skua::PercentSet::Path);
    const auto again = files::path_of_url(url, request, "/dav");
    check(again && *again == *path);
  }
  check(!files::path_of_url("http://example.org" + whole, request, "/dav"));
}

xml::Node parsed(const std::string& text) {
  auto root = xml::parse(text, {.nodes = 100'000});
  check(root.has_value());
  return *std::move(root);
}

void find_properties(std::string_view text, const std::vector<xml::Node>& dead) {
  const auto query = files::PropertyQuery::parse(text);
  if (!query) return;
  check(query->names.size() <= 128);
  check((query->kind == files::PropertyQuery::Kind::Named) || query->names.empty());
  files::DavResource resource{.path = "/dav/" + std::string(text.substr(0, 20)), .dead = dead};
  std::erase(resource.path, '\0');
  std::string answer(files::multistatus_begin);
  files::append_resource(answer, resource, *query, files::WallTime());
  const xml::Node root = parsed(answer.append(files::multistatus_end));
  std::size_t count = 0;
  for (const xml::Node& response : root.children) {
    for (const xml::Node& stat : response.children) {
      if (stat.name.local == "propstat") count += stat.children.at(0).children.size();
    }
  }
  if (query->kind == files::PropertyQuery::Kind::Named) check(count == query->names.size());
}

void change_properties(std::string_view text, std::vector<xml::Node>& dead) {
  const auto changes = files::parse_property_changes(text);
  if (!changes) return;
  check(!changes->empty());
  const std::vector<xml::Node> before = dead;
  const bool is_done = files::apply_changes(dead, *changes);
  check(is_done || dead == before);
  const std::string kept = files::properties_text(dead);
  if (kept.size() > files::max_property_bytes) {
    dead = before;
  } else {
    check(files::parse_properties(kept) == dead);
  }
  for (const auto failure : {std::optional<skua::Status>(), std::optional(skua::Status::Forbidden),
                             std::optional(skua::Status::InsufficientStorage)}) {
    const xml::Node root = parsed(files::changes_text("/dav/a", *changes, failure));
    std::size_t count = 0;
    for (const xml::Node& stat : root.children.at(1).children) {
      if (stat.name.local == "propstat") count += stat.children.at(0).children.size();
    }
    check(count == changes->size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 65'536) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  read_condition(text);
  make_condition(text);
  read_fields(text);
  if (!xml::is_available()) return 0;
  // Two requests, one after the other.
  const std::size_t half = std::min(text.find("\n\n"), size);
  std::vector<xml::Node> dead;
  change_properties(text.substr(0, half), dead);
  change_properties(text.substr(half), dead);
  find_properties(text.substr(half), dead);
  return 0;
}
