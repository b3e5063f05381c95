// SPDX-License-Identifier: MIT
// In: the fields of proxies. Out: the client. Each proxy appends what it knows, so lists are read
// from their ends: no text that a client has sent can change how the elements after it are read.
#include "http/message/forwarded.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/ascii.hpp"
#include "http/uri/authority.hpp"
#include "skua/address.hpp"

namespace skua::http {
namespace {

constexpr std::string_view client_field = "X-Forwarded-For";
constexpr std::string_view scheme_field = "X-Forwarded-Proto";
constexpr std::string_view host_field = "X-Forwarded-Host";
constexpr std::string_view standard_field = "Forwarded";

// Whether a quote inside a quoted string belongs to its content. RFC 9110 §5.6.4
bool is_escaped(std::string_view text, std::size_t at) noexcept {
  std::size_t backslashes = 0;
  while (backslashes < at && text[at - 1 - backslashes] == '\\') ++backslashes;
  return backslashes % 2 != 0;
}

// Removes the last element from a list and returns it. Commas between quotes separate nothing.
std::string_view take_last_element(std::string_view& list, bool has_quotes) noexcept {
  std::size_t begin = list.size();
  bool is_quoted = false;
  while (begin != 0) {
    const char c = list[begin - 1];
    if (c == ',' && !is_quoted) break;
    --begin;
    if (has_quotes && c == '"' && !is_escaped(list, begin)) is_quoted = !is_quoted;
  }
  const std::string_view element = list.substr(begin);
  list = list.substr(0, begin == 0 ? 0 : begin - 1);
  return ascii::trim_ows(element);
}

/// The elements of a list, which may have several field lines, from the last to the first.
class LastFirst {
 public:
  LastFirst(const Head& head, std::string_view name, bool has_quotes) noexcept
      : head_(head), name_(name), lines_left_(head.fields.size()), has_quotes_(has_quotes) {}

  std::optional<std::string_view> next() noexcept {
    while (true) {
      if (list_.empty() && !take_line()) return std::nullopt;
      const std::string_view element = take_last_element(list_, has_quotes_);
      if (!element.empty()) return element;  // RFC 9110 §5.6.1: empty ones do not count
    }
  }

 private:
  bool take_line() noexcept {
    while (lines_left_ != 0) {
      const FieldLine& line = head_.fields[--lines_left_];
      if (!ascii::equals_ignoring_case(head_.name(line), name_)) continue;
      list_ = head_.value(line);
      if (!list_.empty()) return true;
    }
    return false;
  }

  const Head& head_;
  std::string_view name_;
  std::string_view list_;
  std::size_t lines_left_;
  bool has_quotes_;
};

// RFC 7239 §6.3: an obfuscated port begins with an underscore, and is not told.
std::optional<std::uint16_t> read_node_port(std::string_view text) noexcept {
  if (text.starts_with('_')) return std::uint16_t{0};
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

// Returns nullopt also for a name, `unknown`, or `_hidden`. Zones mean nothing on this machine.
std::optional<Address> read_ip(std::string_view host, std::uint16_t port) noexcept {
  if (host.find('%') != host.npos) return std::nullopt;
  const Result<Address> address = Address::parse(host, port);
  return address ? std::optional(*address) : std::nullopt;
}

// Reads `192.0.2.1`, `192.0.2.1:4711`, `[2001:db8::1]` or `[2001:db8::1]:4711`. RFC 7239 §6
std::optional<Address> read_node(std::string_view node) noexcept {
  const bool has_brackets = node.starts_with('[');
  const std::size_t bracket = has_brackets ? node.find(']') : 0;
  if (bracket == node.npos) return std::nullopt;
  const std::size_t colon = node.find(':', bracket);
  const std::string_view host = node.substr(0, colon);
  if (has_brackets != host.ends_with(']')) return std::nullopt;
  if (colon == node.npos) return read_ip(host, 0);
  const auto port = read_node_port(node.substr(colon + 1));
  return port ? read_ip(host, *port) : std::nullopt;
}

// X-Forwarded-For has IPv6 addresses without brackets, too.
std::optional<Address> read_bare_node(std::string_view node) noexcept {
  const bool is_ipv6 = !node.starts_with('[') && node.find(':') != node.rfind(':');
  return is_ipv6 ? read_ip(node, 0) : read_node(node);
}

// Traefik names the schemes of WebSockets.
void take_scheme(std::string_view scheme, Origin& known) noexcept {
  const auto is = [scheme](std::string_view name) {
    return ascii::equals_ignoring_case(scheme, name);
  };
  if (is("https") || is("wss")) known.is_secure = true;
  if (is("http") || is("ws")) known.is_secure = false;
}

void take_host(std::string_view host, Origin& known) noexcept {
  if (is_authority(host)) known.host = host;
}

void believe_x_forwarded(const Head& head, const TrustedProxies& proxies, Origin& known) {
  LastFirst hops(head, client_field, false);
  bool is_trusted = true;
  while (is_trusted) {
    const auto hop = hops.next();
    const auto address = hop ? read_bare_node(*hop) : std::nullopt;
    if (!address) break;
    known.client = *address;
    is_trusted = proxies.trusts(*address);
  }
  if (const auto scheme = LastFirst(head, scheme_field, false).next()) take_scheme(*scheme, known);
  if (const auto host = LastFirst(head, host_field, false).next()) take_host(*host, known);
}

/// An element of Forwarded, as far as it is used. RFC 7239 §4
struct ForwardedElement {
  std::optional<std::string_view> node{};
  std::optional<std::string_view> host{};
  std::optional<std::string_view> scheme{};
};

// Removes a token or a quoted string and returns its content; nullopt if it is neither.
std::optional<std::string_view> take_value(std::string_view& text) noexcept {
  if (!text.starts_with('"')) {
    std::size_t size = 0;
    while (size < text.size() && ascii::is_token(text[size])) ++size;
    const std::string_view token = text.substr(0, size);
    text.remove_prefix(size);
    return size != 0 ? std::optional(token) : std::nullopt;
  }
  std::size_t end = 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  if (end >= text.size()) return std::nullopt;
  const std::string_view content = text.substr(1, end - 1);
  text.remove_prefix(end + 1);
  return content;
}

// Each parameter occurs once. An escape has no place in an address, a host or a scheme.
bool take_parameter(std::string_view name, std::string_view value, ForwardedElement& element) {
  const auto is = [name](std::string_view wanted) {
    return ascii::equals_ignoring_case(name, wanted);
  };
  std::optional<std::string_view>* const place = is("for")     ? &element.node
                                                 : is("host")  ? &element.host
                                                 : is("proto") ? &element.scheme
                                                               : nullptr;
  if (place == nullptr) return true;
  if (place->has_value() || value.find('\\') != value.npos) return false;
  *place = value;
  return true;
}

// Returns nullopt if the element is malformed.
std::optional<ForwardedElement> read_element(std::string_view text) {
  ForwardedElement element;
  while (!text.empty()) {
    const std::size_t equals = text.find_first_of("=;");
    if (equals == text.npos) return std::nullopt;
    if (text[equals] == ';') {
      if (!ascii::trim_ows(text.substr(0, equals)).empty()) return std::nullopt;
      text.remove_prefix(equals + 1);
      continue;
    }
    std::string_view name = text.substr(0, equals);
    ascii::skip_ows(name);
    text.remove_prefix(equals + 1);
    const auto value = take_value(text);
    if (!value || !ascii::is_token_text(name) || !take_parameter(name, *value, element)) {
      return std::nullopt;
    }
    ascii::skip_ows(text);
    if (!text.empty() && text.front() != ';') return std::nullopt;
    if (!text.empty()) text.remove_prefix(1);
  }
  return element;
}

// An element that a trusted proxy has written tells of the hop before it.
void believe_forwarded(const Head& head, const TrustedProxies& proxies, Origin& known) {
  LastFirst elements(head, standard_field, true);
  while (const auto text = elements.next()) {
    const std::optional<ForwardedElement> element = read_element(*text);
    if (!element) return;
    if (element->scheme) take_scheme(*element->scheme, known);
    if (element->host) take_host(*element->host, known);
    const auto address = element->node ? read_node(*element->node) : std::nullopt;
    if (!address) return;
    known.client = *address;
    if (!proxies.trusts(*address)) return;
  }
}

}  // namespace

void believe(const Head& head, const TrustedProxies& proxies, Origin& known) {
  known.believed = proxies.rules().forwarded;
  switch (known.believed) {
    case ForwardedFields::None: return;
    case ForwardedFields::XForwarded: return believe_x_forwarded(head, proxies, known);
    case ForwardedFields::Forwarded: return believe_forwarded(head, proxies, known);
  }
}

}  // namespace skua::http
