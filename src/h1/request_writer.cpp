// SPDX-License-Identifier: MIT
// In: a method, a URL and fields. Out: the head of a request. All three were validated on creation,
// so none of them can contain a line break. This file decides which lines are written, each once.
#include "h1/request_writer.hpp"

#include <optional>
#include <string_view>

#include "http/message/field.hpp"
#include "http/message/field_lines_access.hpp"
#include "http/uri/authority.hpp"
#include "http/uri/url_parts.hpp"

namespace skua::h1 {
namespace {

void add_line(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

// RFC 9110 §8.6: a length of 0 is sent if the method anticipates content.
bool anticipates_content(Method method) noexcept {
  return method == Method::Post || method == Method::Put || method == Method::Patch ||
         method == Method::Query;
}

bool has_content(const RequestHead& head) noexcept {
  return head.body == BodyField::Chunked ||
         (head.body == BodyField::Length && head.length_bytes != 0);
}

Errc check(const RequestHead& head, const Url& url) noexcept {
  if (url.host().empty() || !http::scheme_port(url.scheme())) return Errc::MalformedUrl;
  // RFC 9112 §3.2.3, §3.2.4
  const bool is_connect = head.method == Method::Connect;
  if (is_connect != (head.form == TargetForm::Authority)) return Errc::MalformedTarget;
  if (head.form == TargetForm::Asterisk && head.method != Method::Options) {
    return Errc::MalformedTarget;
  }
  // RFC 9110 §9.3.6, §9.3.8
  const bool never_has_content = is_connect || head.method == Method::Trace;
  return never_has_content && has_content(head) ? Errc::Unsupported : Errc::None;
}

// Returns the authority of the absolute form, or the target of CONNECT, which always has a port
// (RFC 9112 §3.2.3).
std::string authority_of(const RequestHead& head, const Url& url) {
  std::string authority = url.host_field();
  if (head.form == TargetForm::Authority && http::port_of(authority, 0) == 0) {
    authority.append(":").append(std::to_string(url.effective_port().value_or(0)));
  }
  return authority;
}

std::optional<std::string_view> find_host(const FieldLines& fields, std::size_t nth) noexcept {
  return http::FieldLinesAccess::find(fields, http::FieldName::Host, "Host", nth);
}

// RFC 9112 §3.2: exactly one Host, equal to that of the target if it has one (§3.2.2).
Result<std::string> host_of(const RequestHead& head, const Url& url, const FieldLines& fields) {
  const std::optional<std::string_view> given = find_host(fields, 0);
  const bool is_in_target = head.form == TargetForm::Absolute || head.form == TargetForm::Authority;
  std::string ours;
  if (!given || is_in_target) {
    ours = authority_of(head, url);
    // A URL may have a host that servers reject: one with percent signs.
    if (!http::is_authority(ours)) return Error(Errc::InvalidHost, "request");
  }
  if (!given) return ours;
  if (find_host(fields, 1) || !http::is_authority(*given)) {
    return Error(Errc::InvalidHost, "request");
  }
  if (is_in_target && !http::is_same_authority(ours, *given, url.effective_port().value_or(0))) {
    return Error(Errc::InvalidHost, "request: Host does not match the target");
  }
  return std::string(*given);
}

void append_framing(const RequestHead& head, std::string& out) {
  if (head.body == BodyField::Chunked) return add_line(out, "Transfer-Encoding", "chunked");
  if (const auto length = content_length_to_send(head))
    add_line(out, "Content-Length", std::to_string(*length));
}

// Appends the caller's fields, except those that are written separately.
void append_fields(const FieldLines& fields, bool has_content, std::string& out) {
  using enum http::FieldName;
  std::string_view wire = fields.wire();
  std::size_t kept_bytes = 0;  // at its beginning
  for (const FieldLines::Line line : fields) {
    const std::size_t line_bytes = line.name.size() + line.value.size() + 4;
    const auto known = static_cast<http::FieldName>(line.known);
    // RFC 9110 §10.1.1: no expectation without content.
    const bool is_kept = known != Host && known != ContentLength && known != TransferEncoding &&
                         (known != Expect || has_content);
    if (is_kept) {
      kept_bytes += line_bytes;
      continue;
    }
    out.append(wire.substr(0, kept_bytes));
    wire.remove_prefix(kept_bytes + line_bytes);
    kept_bytes = 0;
  }
  out.append(wire);
}

}  // namespace

std::string_view method_name(const RequestHead& head) noexcept {
  return head.other_method.empty() ? name(head.method) : head.other_method;
}

std::string request_target(const RequestHead& head, const Url& url) {
  if (!head.target.empty()) return std::string(head.target);
  switch (head.form) {
    case TargetForm::Origin: return url.request_target();
    case TargetForm::Authority: return authority_of(head, url);
    case TargetForm::Asterisk: return "*";
    case TargetForm::Absolute: break;
  }
  const bool is_secure = http::scheme_port(url.scheme()) == http::scheme_port("https");
  std::string target(is_secure ? "https://" : "http://");
  return target.append(authority_of(head, url)).append(url.request_target());
}

Result<std::string> request_host(const RequestHead& head, const Url& url,
                                 const FieldLines& fields) {
  if (const Errc error = check(head, url); error != Errc::None) return Error(error, "request");
  return host_of(head, url, fields);
}

std::optional<std::uint64_t> content_length_to_send(const RequestHead& head) noexcept {
  if (head.body == BodyField::Chunked) return std::nullopt;
  if (!has_content(head) && !anticipates_content(head.method)) return std::nullopt;
  return head.body == BodyField::Length ? head.length_bytes : 0;
}

Result<void> append_request_head(const RequestHead& head, const Url& url, const FieldLines& fields,
                                 std::string& out) {
  const Result<std::string> host = request_host(head, url, fields);
  if (!host) return host.error();
  constexpr std::size_t usual_bytes = 256;  // besides the caller's fields
  out.reserve(out.size() + fields.wire().size() + usual_bytes);
  out.append(method_name(head)).append(" ");
  if (head.target.empty()) {
    out.append(request_target(head, url));
  } else {
    out.append(head.target);
  }
  out.append(" HTTP/1.1\r\n");
  add_line(out, "Host", *host);  // RFC 9110 §7.2: comes first
  append_framing(head, out);
  if (head.connection != ConnectionField::Default) {
    add_line(out, "Connection", head.connection == ConnectionField::Close ? "close" : "keep-alive");
  }
  append_fields(fields, has_content(head), out);
  out.append("\r\n");
  return {};
}

}  // namespace skua::h1
