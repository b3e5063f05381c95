// SPDX-License-Identifier: MIT
// In: queries and changes of properties as XML. Out: the properties of a file as XML.
#include "files/dav/properties.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/http_date.hpp"
#include "files/dav/multistatus.hpp"
#include "files/mime_type.hpp"

namespace skua::files {
namespace {

constexpr std::size_t max_queried_names = 128;

constexpr std::array<std::string_view, 6> live_names = {
    "displayname", "getcontentlength", "getcontenttype",
    "getetag",     "getlastmodified",  "resourcetype",
};

bool is_dav(const xml::Node& node, std::string_view local) noexcept {
  return node.name.space == dav_namespace && node.name.local == local;
}

bool is_folder(const DavResource& resource) noexcept {
  return resource.stat.kind == disk::FileKind::Directory;
}

std::string_view name_of_resource(const DavResource& resource) noexcept {
  std::string_view path = resource.path;
  if (path.ends_with('/')) path.remove_suffix(1);
  return path.substr(path.rfind('/') + 1);
}

std::string date_text(std::int64_t modified_ns) {
  const WallTime modified{std::chrono::nanoseconds(modified_ns)};
  std::string text(http_date_bytes, '\0');
  format_http_date(std::chrono::floor<std::chrono::seconds>(modified),
                   std::span<char, http_date_bytes>(text));
  return text;
}

// Returns the value as XML; nullopt if the resource has no such property.
std::optional<std::string> live_value(const DavResource& resource, std::string_view name,
                                      WallTime now) {
  std::string value;
  if (name == "displayname") {
    xml::append_text(value, name_of_resource(resource));
    return value;
  }
  if (name == "getlastmodified") return date_text(resource.stat.modified_ns);
  if (name == "resourcetype") return is_folder(resource) ? "<D:collection/>" : "";
  if (is_folder(resource)) return std::nullopt;
  if (name == "getcontentlength") return std::to_string(resource.stat.size_bytes);
  if (name == "getcontenttype") return std::string(mime_type(resource.path));
  if (name == "getetag") {
    xml::append_text(value, make_etag(resource.stat, now));
    return value;
  }
  return std::nullopt;
}

void append_live(std::string& out, std::string_view name, std::string_view value) {
  out.append("<D:").append(name);
  if (value.empty()) {
    out += "/>";
  } else {
    out.append(">").append(value).append("</D:").append(name).append(">");
  }
}

void append_propstat(std::string& out, std::string_view properties, Status status) {
  out.append("<D:propstat><D:prop>").append(properties).append("</D:prop>");
  append_status(out, status);
  out += "</D:propstat>";
}

void append_name(std::string& out, const xml::Name& name) {
  xml::append(out, xml::Node{.name = name});
}

// Appends a property to those that were found, or its name to those that were not.
void append_named(std::string& found, std::string& missing, const DavResource& resource,
                  const xml::Name& name, WallTime now) {
  if (name.space == dav_namespace) {
    if (const auto value = live_value(resource, name.local, now)) {
      return append_live(found, name.local, *value);
    }
  }
  const auto dead = std::ranges::find(resource.dead, name, &xml::Node::name);
  if (dead != resource.dead.end()) return xml::append(found, *dead);
  append_name(missing, name);
}

// A property has the language of what is around it. RFC 4918 §4.3
void inherit_language(xml::Node& property, std::string_view language) {
  const xml::Name name{std::string(xml::namespace_of_xml), "lang"};
  const bool has_own = std::ranges::find(property.attributes, name, &xml::Attribute::name) !=
                       property.attributes.end();
  if (!has_own && !language.empty()) property.attributes.push_back({name, std::string(language)});
}

std::string_view language_of(const xml::Node& node, std::string_view inherited) noexcept {
  for (const xml::Attribute& attribute : node.attributes) {
    const bool is_language =
        attribute.name.space == xml::namespace_of_xml && attribute.name.local == "lang";
    if (is_language) return attribute.value;
  }
  return inherited;
}

void add_changes(std::vector<PropertyChange>& changes, const xml::Node& action,
                 std::string_view language) {
  const bool removes = is_dav(action, "remove");
  language = language_of(action, language);
  for (const xml::Node& list : action.children) {
    if (!is_dav(list, "prop")) continue;
    for (const xml::Node& property : list.children) {
      if (property.is_text()) continue;
      changes.push_back({.removes = removes, .property = property});
      inherit_language(changes.back().property, language_of(list, language));
    }
  }
}

}  // namespace

Result<PropertyQuery> PropertyQuery::parse(std::string_view content) {
  PropertyQuery query;
  if (content.empty()) return query;
  const Result<xml::Node> root = xml::parse(content);
  if (!root) return root.error();
  if (!is_dav(*root, "propfind")) return Error(Errc::MalformedText, "propfind");
  // Elements that this version does not know are ignored. RFC 4918 §17
  for (const xml::Node& child : root->children) {
    if (is_dav(child, "allprop")) return query;
    if (is_dav(child, "propname")) {
      query.kind = Kind::Names;
      return query;
    }
    if (!is_dav(child, "prop")) continue;
    query.kind = Kind::Named;
    for (const xml::Node& property : child.children) {
      if (!property.is_text()) query.names.push_back(property.name);
    }
    if (query.names.size() > max_queried_names) return Error(Errc::MalformedText, "propfind");
    return query;
  }
  return Error(Errc::MalformedText, "propfind");
}

bool PropertyQuery::needs_dead() const noexcept {
  return kind != Kind::Named || std::ranges::any_of(names, [](const xml::Name& name) {
           return name.space != dav_namespace;
         });
}

void append_resource(std::string& out, const DavResource& resource, const PropertyQuery& query,
                     WallTime now) {
  std::string found;
  std::string missing;
  if (query.kind == PropertyQuery::Kind::Named) {
    for (const xml::Name& name : query.names) append_named(found, missing, resource, name, now);
  } else {
    const bool is_names = query.kind == PropertyQuery::Kind::Names;
    for (const std::string_view name : live_names) {
      const auto value = live_value(resource, name, now);
      if (value) append_live(found, name, is_names ? std::string_view() : *value);
    }
    for (const xml::Node& property : resource.dead) {
      is_names ? append_name(found, property.name) : xml::append(found, property);
    }
  }
  out += "<D:response>";
  append_href(out, resource.path);
  if (!found.empty() || missing.empty()) append_propstat(out, found, Status::Ok);
  if (!missing.empty()) append_propstat(out, missing, Status::NotFound);
  out += "</D:response>\n";
}

Result<std::vector<PropertyChange>> parse_property_changes(std::string_view content) {
  const Result<xml::Node> root = xml::parse(content);
  if (!root) return root.error();
  std::vector<PropertyChange> changes;
  if (is_dav(*root, "propertyupdate")) {
    for (const xml::Node& action : root->children) {
      if (!is_dav(action, "set") && !is_dav(action, "remove")) continue;
      add_changes(changes, action, language_of(*root, {}));
    }
  }
  if (changes.empty()) return Error(Errc::MalformedText, "propertyupdate");
  return changes;
}

bool apply_changes(std::vector<xml::Node>& properties, const std::vector<PropertyChange>& changes) {
  const bool is_allowed = std::ranges::none_of(changes, [](const PropertyChange& change) {
    return change.property.name.space == dav_namespace;
  });
  if (!is_allowed) return false;
  for (const PropertyChange& change : changes) {
    const auto known = std::ranges::find(properties, change.property.name, &xml::Node::name);
    if (known == properties.end()) {
      if (!change.removes) properties.push_back(change.property);
    } else if (change.removes) {
      properties.erase(known);
    } else {
      *known = change.property;
    }
  }
  return true;
}

std::string changes_text(std::string_view path, const std::vector<PropertyChange>& changes,
                         std::optional<Status> failure) {
  std::string done;
  std::string failed;
  std::string dependent;
  for (const PropertyChange& change : changes) {
    const xml::Name& name = change.property.name;
    // Properties of ours are the reason for a refusal; otherwise it is all that needed room.
    const bool is_reason =
        failure == Status::Forbidden ? name.space == dav_namespace : !change.removes;
    append_name(!failure ? done : is_reason ? failed : dependent, name);
  }
  if (failed.empty()) failed.swap(dependent);
  std::string text(multistatus_begin);
  text += "<D:response>";
  append_href(text, path);
  if (!failure) append_propstat(text, done, Status::Ok);
  if (!failed.empty()) append_propstat(text, failed, failure.value_or(Status::Ok));
  if (!dependent.empty()) append_propstat(text, dependent, Status::FailedDependency);
  return text.append("</D:response>\n").append(multistatus_end);
}

}  // namespace skua::files
