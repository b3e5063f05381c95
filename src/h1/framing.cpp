// SPDX-License-Identifier: MIT
// In: a parsed head. Out: where its body ends, its target, and whether the connection persists. All
// rules against request smuggling are here. If an RFC lets a server either repair or reject a
// message, we reject it: smuggling depends on two implementations that repair differently.
#include "h1/framing.hpp"

#include <array>
#include <functional>
#include <limits>

#include "base/ascii.hpp"

namespace skua::h1 {
namespace {

using http::FieldLine;
using http::FieldName;
using http::Head;

/// Calls `use(value)` for every field line with the given name.
template <class Use>
void for_each(const Head& head, FieldName name, Use use) noexcept {
  for (const FieldLine& line : head.fields) {
    if (line.name == name) use(head.value(line));
  }
}

std::size_t count(const Head& head, FieldName name) noexcept {
  std::size_t lines = 0;
  for_each(head, name, [&](std::string_view) { ++lines; });
  return lines;
}

/// RFC 9110 §8.6: 1*DIGIT. RFC 9112 §6.3 rule 5: repeated or list values may be rejected even if
/// they are equal.
Result<std::uint64_t> content_length(const Head& head) noexcept {
  if (count(head, FieldName::ContentLength) != 1) return Errc::InvalidContentLength;
  const std::string_view text = head.value(*head.find(FieldName::ContentLength));
  if (text.empty()) return Errc::InvalidContentLength;
  constexpr std::uint64_t highest = std::numeric_limits<std::int64_t>::max();
  std::uint64_t length = 0;
  for (const char c : text) {
    if (!ascii::is_digit(c)) return Errc::InvalidContentLength;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (length > (highest - digit) / 10) return Errc::InvalidContentLength;
    length = length * 10 + digit;
  }
  return length;
}

/// RFC 9112 §6.1, §7: Transfer-Encoding must be exactly `chunked`.
Errc check_transfer_encoding(const Head& head) noexcept {
  // RFC 9112 §6.1: an HTTP/1.0 message with Transfer-Encoding has faulty framing.
  if (head.minor_version == 0) return Errc::InvalidTransferEncoding;
  bool malformed = false;
  bool other_coding = false;
  std::size_t chunked_count = 0;
  bool chunked_is_last = false;
  for_each(head, FieldName::TransferEncoding, [&](std::string_view list) {
    do {
      const std::string_view coding = ascii::take_list_element(list);
      chunked_is_last = ascii::equals_ignoring_case(coding, "chunked");
      chunked_count += chunked_is_last ? 1U : 0U;
      other_coding = other_coding || !chunked_is_last;
      malformed = malformed || !ascii::is_token_text(coding.substr(0, coding.find(';')));
    } while (!list.empty());
    malformed = malformed || list.data() != nullptr;  // a list that ends with a comma
  });
  // RFC 9112 §6.3 rule 4: the length of a request is unknown unless chunked is the last coding.
  // §7.1: chunked is applied only once.
  if (malformed || !chunked_is_last || chunked_count != 1) return Errc::InvalidTransferEncoding;
  if (other_coding) return Errc::UnsupportedTransferCoding;  // RFC 9112 §6.1: 501
  return Errc::None;
}

/// Sets the body's kind from Content-Length or Transfer-Encoding. RFC 9112 §6.3
Errc read_body_fields(const Head& head, Framing& framing) noexcept {
  const bool has_coding = head.has(FieldName::TransferEncoding);
  const bool has_length = head.has(FieldName::ContentLength);
  if (has_coding) {
    if (has_length) return Errc::AmbiguousFraming;  // RFC 9112 §6.1, §6.3 rule 3
    framing.body = BodyKind::Chunked;
    return check_transfer_encoding(head);
  }
  if (has_length) {
    const Result<std::uint64_t> length = content_length(head);
    if (!length) return length.error().code();
    framing.has_content_length = true;
    framing.length_bytes = *length;
    framing.body = *length != 0 ? BodyKind::Length : BodyKind::None;
  }
  return Errc::None;
}

/// Without these fields, the body stays as it is.
inline Errc decide_body(const Head& head, Framing& framing) noexcept {
  constexpr std::uint64_t fields =
      http::set_of(FieldName::TransferEncoding, FieldName::ContentLength);
  return head.has_any(fields) ? read_body_fields(head, framing) : Errc::None;
}

// Each option names fields that are not for the next hop: gateways look for all of them.
constexpr std::size_t max_connection_bytes = 1024;

/// Obeys the Connection fields.
Errc read_connection(const Head& head, Framing& framing) noexcept {
  constexpr std::array<std::string_view, 3> known = {"close", "keep-alive", "upgrade"};
  std::array<bool, 3> has{};
  std::size_t size_bytes = 0;
  for_each(head, FieldName::Connection, [&](std::string_view list) {
    size_bytes += list.size();
    if (list == known[1]) {  // most often
      has[1] = true;
      return;
    }
    while (!list.empty()) {
      const std::string_view option = ascii::take_list_element(list);
      for (std::size_t i = 0; i < known.size(); ++i) {
        has[i] = has[i] || ascii::equals_ignoring_case(option, known[i]);
      }
    }
  });
  const auto [closes, keeps_alive, upgrades] = has;
  if (keeps_alive) framing.keep_alive = true;
  if (closes) framing.keep_alive = false;     // RFC 9112 §9.3: close takes precedence
  if (upgrades && head.minor_version != 0) {  // §7.8: ignored in HTTP/1.0
    const FieldLine* const line = head.find(FieldName::Upgrade);
    if (line != nullptr) framing.upgrade = head.value(*line);
  }
  return size_bytes <= max_connection_bytes ? Errc::None : Errc::FieldTooLong;
}

/// RFC 9112 §9.3, RFC 9110 §7.6.1 and §7.8
inline Errc decide_connection(const Head& head, Framing& framing) noexcept {
  framing.keep_alive = head.minor_version != 0;
  return head.has(FieldName::Connection) ? read_connection(head, framing) : Errc::None;
}

/// RFC 9110 §10.1.1: unknown expectations get 417; HTTP/1.0 has no expectations.
Errc decide_expectation(const Head& head, Framing& framing) noexcept {
  if (!head.has(FieldName::Expect) || head.minor_version == 0) return Errc::None;
  bool unknown = false;
  for_each(head, FieldName::Expect, [&](std::string_view value) {
    unknown = unknown || !ascii::equals_ignoring_case(value, "100-continue");
  });
  // Without a body the client has nothing to wait for.
  framing.expect_continue = framing.body != BodyKind::None;
  return unknown ? Errc::UnknownExpectation : Errc::None;
}

/// RFC 9112 §3.2.2. Userinfo is rejected: RFC 9110 §4.2.4 asks to treat it as an error.
Errc decide_absolute(std::string_view target, Framing& framing) noexcept {
  const std::size_t colon = target.find("://");
  if (colon == std::string_view::npos) return Errc::MalformedTarget;
  const std::string_view scheme = target.substr(0, colon);
  if (!ascii::equals_ignoring_case(scheme, "http") &&
      !ascii::equals_ignoring_case(scheme, "https")) {
    return Errc::MalformedTarget;
  }
  const std::string_view rest = target.substr(colon + 3);
  const std::size_t end = rest.find_first_of("/?");
  framing.form = TargetForm::Absolute;
  framing.host = rest.substr(0, end);
  // RFC 9110 §4.2.3: an empty path is "/", also in front of a query; see http::split_target().
  framing.path_and_query = end == std::string_view::npos ? "/" : rest.substr(end);
  return http::is_authority(framing.host) ? Errc::None : Errc::MalformedTarget;
}

/// RFC 9112 §3.2: four forms, two of which are reserved for a single method.
Errc decide_target(const Head& head, Framing& framing, std::uint16_t& default_port) noexcept {
  const std::string_view target = head.target();
  if (head.method == Method::Connect) {  // §3.2.3
    framing.form = TargetForm::Authority;
    framing.host = target;
    if (!http::is_authority(target)) return Errc::MalformedTarget;
    default_port = http::port_of(target, 0);  // so that a Host without the port matches
    return default_port != 0 ? Errc::None : Errc::MalformedTarget;
  }
  if (target.front() == '/') {  // §3.2.1
    framing.path_and_query = target;
    return Errc::None;
  }
  if (target == "*") {  // §3.2.4
    framing.form = TargetForm::Asterisk;
    framing.path_and_query = target;
    return head.method == Method::Options ? Errc::None : Errc::MalformedTarget;
  }
  return decide_absolute(target, framing);
}

/// RFC 9112 §3.2: exactly one valid Host; optional in HTTP/1.0.
Errc decide_host(const Head& head, Framing& framing, std::uint16_t default_port,
                 http::LastAuthority& known) noexcept {
  const FieldLine* const line = head.find(FieldName::Host);
  if (line == nullptr) return head.minor_version == 0 ? Errc::None : Errc::InvalidHost;
  for (const FieldLine* other = line + 1; other != head.fields.data() + head.fields.size();
       ++other) {
    if (other->name == FieldName::Host) return Errc::InvalidHost;
  }
  const std::string_view host = head.value(*line);
  // §3.2: Host is empty if the target has no authority, which `OPTIONS *` may lack. A path always
  // has one (RFC 9110 §4.2.1: an http URI with an empty host is invalid).
  if (host.empty() && framing.form == TargetForm::Asterisk) return Errc::None;
  if (!known.is_authority(host)) return Errc::InvalidHost;
  if (framing.host.empty()) {
    framing.host = host;
    return Errc::None;
  }
  // §3.2.2: the authority of an absolute target overrides Host.
  if (framing.form == TargetForm::Absolute) return Errc::None;
  return http::is_same_authority(framing.host, host, default_port) ? Errc::None : Errc::InvalidHost;
}

inline Errc decide_request(const Head& head, Framing& framing,
                           http::LastAuthority& known_host) noexcept {
  std::uint16_t default_port = 0;
  if (const Errc error = decide_body(head, framing); error != Errc::None) return error;
  if (const Errc error = decide_target(head, framing, default_port); error != Errc::None)
    return error;
  if (const Errc error = decide_host(head, framing, default_port, known_host); error != Errc::None)
    return error;
  if (const Errc error = decide_connection(head, framing); error != Errc::None) return error;
  return decide_expectation(head, framing);
}

}  // namespace

void Framing::move(std::string_view from, const char* to) noexcept {
  for (std::string_view* const view : {&upgrade, &host, &path_and_query}) {
    const std::less<> is_before;
    const bool is_elsewhere =
        is_before(view->data(), from.data()) || !is_before(view->data(), from.data() + from.size());
    if (!is_elsewhere) *view = {to + (view->data() - from.data()), view->size()};
  }
}

Result<Framing> frame_request(const Head& head) noexcept {
  http::LastAuthority none;
  return frame_request(head, none);
}

Result<Framing> frame_request(const Head& head, http::LastAuthority& known_host) noexcept {
  Result<Framing> framing{Framing{}};
  const Errc error = decide_request(head, *framing, known_host);
  if (error != Errc::None) [[unlikely]]
    framing = error;
  return framing;
}

Result<Framing> frame_response(const Head& head, Method request_method) noexcept {
  Framing framing;
  const Status status{head.status};
  // RFC 9112 §6.3 rule 2: a tunnel follows, whatever the fields say.
  const bool is_tunnel = request_method == Method::Connect && head.status / 100 == 2;
  if (!is_tunnel) {
    framing.body = BodyKind::UntilClose;  // rule 8
    if (const Errc error = decide_body(head, framing); error != Errc::None) return error;
  }
  if (const Errc error = decide_connection(head, framing); error != Errc::None) return error;
  // Rule 1: these end with their head; a length is informational.
  if (is_tunnel || request_method == Method::Head || is_bodiless(status)) {
    framing.body = BodyKind::None;
  }
  if (framing.body == BodyKind::UntilClose) framing.keep_alive = false;
  return framing;
}

}  // namespace skua::h1
