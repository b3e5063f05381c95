// SPDX-License-Identifier: MIT
// In: the head of a message. Out: the field lines for the next hop. Those of the connection end
// here (RFC 9110 §7.6.1), and so does what a client says about itself in place of its proxy.
#include "proxy/fields.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.hpp"
#include "http/message/field_lines_access.hpp"
#include "http/message/request_parts.hpp"
#include "skua/address.hpp"
#include "skua/config.hpp"

namespace skua::proxy {
namespace {

using http::FieldLine;
using http::FieldName;
using http::Head;
using Lines = http::FieldLinesAccess;

template <class IsIt>
bool has_element(const Head& head, FieldName name, const IsIt& is_it) {
  if (!head.has(name)) return false;
  for (const FieldLine& line : head.fields) {
    if (line.name != name) continue;
    std::string_view list = head.value(line);
    while (!list.empty()) {
      if (is_it(ascii::take_list_element(list))) return true;
    }
  }
  return false;
}

bool is_nominated(const Head& head, std::string_view name) {
  return has_element(head, FieldName::Connection, [name](std::string_view option) {
    return ascii::equals_ignoring_case(option, name);
  });
}

// Servers that pass fields on as variables cannot tell `_` from `-`.
char folded(char c) noexcept { return c == '_' ? '-' : ascii::to_lower(c); }
bool begins_with(std::string_view name, std::string_view folded_prefix) noexcept {
  if (name.size() < folded_prefix.size()) return false;
  return std::equal(folded_prefix.begin(), folded_prefix.end(), name.begin(),
                    [](char prefix, char c) { return prefix == folded(c); });
}
bool is_same(std::string_view name, std::string_view folded_name) noexcept {
  return name.size() == folded_name.size() && begins_with(name, folded_name);
}

// Includes all fields `Proxy-...`, and `Proxy`, which a CGI program would take for a proxy of its
// own.
bool ends_here(FieldName known, std::string_view name) noexcept {
  switch (known) {
    case FieldName::Connection:
    case FieldName::ContentLength:
    case FieldName::Expect:
    case FieldName::Host:
    case FieldName::KeepAlive:
    case FieldName::ProxyAuthenticate:
    case FieldName::ProxyAuthorization:
    case FieldName::ProxyConnection:
    case FieldName::Te:
    case FieldName::TransferEncoding:
    case FieldName::Upgrade: return true;
    case FieldName::Other:
      return begins_with(name, "proxy-") || is_same(name, "proxy") ||
             is_same(name, "http2-settings");
    default: return false;
  }
}

bool is_about_client(FieldName known, std::string_view name) noexcept {
  if (known == FieldName::Forwarded || known == FieldName::XForwardedFor) return true;
  return known == FieldName::Other && (begins_with(name, "x-forwarded-") ||
                                       is_same(name, "x-real-ip") || is_same(name, "forwarded"));
}

bool is_list_of(ForwardedFields kind, FieldName known) noexcept {
  return kind == ForwardedFields::Forwarded ? known == FieldName::Forwarded
                                            : known == FieldName::XForwardedFor;
}

template <class IsWanted>
void add_lines(FieldLines& lines, const Head& head, const IsWanted& is_wanted) {
  const bool has_options = head.has(FieldName::Connection);
  for (const FieldLine& line : head.fields) {
    const std::string_view name = head.name(line);
    if (ends_here(line.name, name) || !is_wanted(line.name, name)) continue;
    if (has_options && is_nominated(head, name)) continue;
    Lines::add(lines, line.name, name, head.value(line));
  }
}

/// The client's address as text, made once per connection.
struct ClientAddress {
  std::string text{};  // `192.0.2.1`, or `2001:db8::1` without brackets; empty for a Unix socket
  bool is_made = false;
};

const std::string& address_of(Request& request) {
  Connection& connection = request.connection();
  auto& [text, is_made] = connection.state<ClientAddress>();
  if (std::exchange(is_made, true) || !connection.peer_address().is_ip()) return text;
  std::array<char, Address::max_text_bytes> buffer;
  text = connection.peer_address().format_host(buffer);
  return text;
}

/// The client, as the next hop is told of it.
struct Told {
  std::string_view host{};
  std::string_view address{};  // the hop to append: the peer, or the client if its list ends here
  bool is_secure = false;
  bool keeps_list = false;  // a trusted proxy has sent the list that the next hop gets
  bool keeps_all = false;   // see ReverseProxyOptions::trusts_forwarded
};

// Takes in what trusted proxies tell; `buffer` is for the text of an address.
void believe(const http::RequestParts& parts, ForwardedFields kind, std::span<char> buffer,
             Told& told) {
  const http::Origin origin = http::origin_of(parts);
  told.host = origin.host;
  told.is_secure = origin.is_secure;
  if (origin.believed == ForwardedFields::None) return;
  told.keeps_list = told.keeps_all || origin.believed == kind;
  if (told.keeps_list) return;
  told.address = origin.client.is_ip() ? origin.client.format_host(buffer) : std::string_view();
}

// Adds an element to the list that a trusted client has sent, or a new one.
void append_element(FieldLines& lines, FieldName known, std::string_view name,
                    std::string_view element) {
  if (!Lines::has(lines, known, name)) return Lines::add(lines, known, name, element);
  std::string list;
  for (std::size_t nth = 0; const auto value = Lines::find(lines, known, name, nth); ++nth) {
    list.append(*value).append(", ");
  }
  Lines::set(lines, known, name, list.append(element));
}

void add_x_forwarded(FieldLines& lines, const Told& told) {
  if (!told.address.empty()) {
    append_element(lines, FieldName::XForwardedFor, "X-Forwarded-For", told.address);
  }
  // With `keeps_all`, a trusted client has seen the first host and scheme.
  constexpr std::string_view host_name = "X-Forwarded-Host";
  constexpr std::string_view proto_name = "X-Forwarded-Proto";
  if (!Lines::has(lines, FieldName::Other, host_name) && !told.host.empty()) {
    Lines::add(lines, FieldName::Other, host_name, told.host);
  }
  if (!Lines::has(lines, FieldName::Other, proto_name)) {
    Lines::add(lines, FieldName::Other, proto_name, told.is_secure ? "https" : "http");
  }
}

// RFC 7239 §4, §6: an IPv6 address and a port are not tokens. The element tells of one hop: in a
// list, what the peer has asked for, as the elements before it tell what the client has.
void add_forwarded(FieldLines& lines, const Told& told, const Request& request) {
  const std::string_view host = told.keeps_list ? request.host() : told.host;
  const bool is_secure = told.keeps_list ? request.is_secure() : told.is_secure;
  std::string element = "for=";
  if (told.address.empty()) {
    element.append("unknown");
  } else if (told.address.find(':') != told.address.npos) {
    element.append("\"[").append(told.address).append("]\"");
  } else {
    element.append(told.address);
  }
  // A host has no quote and no backslash.
  if (!host.empty()) element.append(";host=\"").append(host).append("\"");
  element.append(is_secure ? ";proto=https" : ";proto=http");
  append_element(lines, FieldName::Forwarded, "Forwarded", element);
}

// RFC 9110 §7.6.3
void add_via(FieldLines& lines, Version version, std::string_view pseudonym) {
  const std::string_view received = version == Version::Http2    ? "2 "
                                    : version == Version::Http10 ? "1.0 "
                                                                 : "1.1 ";
  std::array<char, longest_pseudonym_bytes + 4> buffer;
  char* const end = std::copy(received.begin(), received.end(), buffer.begin());
  std::copy(pseudonym.begin(), pseudonym.end(), end);
  Lines::add(lines, FieldName::Via, "Via", {buffer.data(), received.size() + pseudonym.size()});
}

bool stands_for_another(std::string_view name, const FieldLines& lines) {
  std::string folded_name(name);
  std::ranges::transform(folded_name, folded_name.begin(), folded);
  if (http::find_field_name(folded_name) != FieldName::Other) return true;
  return std::ranges::any_of(lines, [&](const FieldLines::Line& other) {
    return is_same(other.name, folded_name) && !ascii::equals_ignoring_case(other.name, name);
  });
}

}  // namespace

void add_end_to_end(FieldLines& lines, const Head& head) {
  add_lines(lines, head, [](FieldName, std::string_view) { return true; });
}

FieldLines upstream_fields(Request& request, const ReverseProxyOptions& options,
                           std::string_view pseudonym) {
  SKUA_ASSERT(pseudonym.size() <= longest_pseudonym_bytes);
  const http::RequestParts& parts = http::RequestAccess::parts(request);
  const Head& head = *parts.head;
  FieldLines lines;
  if (options.keeps_host && !request.host().empty())
    Lines::add(lines, FieldName::Host, "Host", request.host());
  std::array<char, Address::max_text_bytes> buffer;
  Told told{.host = request.host(),
            .address = address_of(request),
            .is_secure = request.is_secure(),
            .keeps_list = options.trusts_forwarded,
            .keeps_all = options.trusts_forwarded};
  if (parts.origins != nullptr) believe(parts, options.forwarded, buffer, told);
  add_lines(lines, head, [&](FieldName known, std::string_view name) {
    if (told.keeps_all || !is_about_client(known, name)) return true;
    return told.keeps_list && is_list_of(options.forwarded, known);
  });
  add_via(lines, request.version(), pseudonym);
  if (options.forwarded == ForwardedFields::XForwarded) add_x_forwarded(lines, told);
  if (options.forwarded == ForwardedFields::Forwarded) add_forwarded(lines, told, request);
  return lines;
}

bool is_of_connection(const FieldLines::Line& line) noexcept {
  const auto known = static_cast<FieldName>(line.known);
  return known != FieldName::Host && ends_here(known, line.name);
}

void remove_ambiguous(FieldLines& lines) {
  std::vector<std::string> removed;
  for (const FieldLines::Line line : lines) {
    if (line.name.find('_') == line.name.npos) continue;
    if (stands_for_another(line.name, lines)) removed.emplace_back(line.name);
  }
  for (const std::string& name : removed) lines.remove(name);
}

void add_connection_fields(FieldLines& lines, const Head& head) {
  const bool takes_trailers = has_element(head, FieldName::Te, [](std::string_view coding) {
    return ascii::equals_ignoring_case(coding, "trailers");
  });
  if (!takes_trailers) return;
  lines.add("TE", "trailers");
  lines.add("Connection", "TE");
}

bool has_passed(const Head& head, std::string_view pseudonym) noexcept {
  return has_element(head, FieldName::Via, [pseudonym](std::string_view hop) {
    const std::size_t space = hop.find_first_of(" \t");
    if (space == hop.npos) return false;
    hop.remove_prefix(space);
    ascii::skip_ows(hop);
    return hop.substr(0, hop.find_first_of(" \t")) == pseudonym;
  });
}

}  // namespace skua::proxy
