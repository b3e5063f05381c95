// SPDX-License-Identifier: MIT
// In: the calls of a handler. Out: a response that a writer can only frame correctly: fields that
// frame a message are refused here, with the reason, and FieldLines checks every other line.

#include <chrono>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "base/ascii.hpp"
#include "base/http_date.hpp"
#include "http/message/conditional.hpp"
#include "http/message/field.hpp"
#include "http/message/field_lines_access.hpp"
#include "http/message/partial_content.hpp"
#include "http/message/request_parts.hpp"
#include "http/message/response_parts.hpp"
#include "skua/prepared_response.hpp"
#include "skua/response.hpp"

namespace skua {

using http::FieldLinesAccess;

namespace {

// Returns the body `404 Not Found\n`.
SKUA_COLD Body status_text(Status status) {
  const std::string_view phrase = reason(status);
  std::string text = std::to_string(std::uint64_t{code(status)});
  if (!phrase.empty()) text.append(" ").append(phrase);
  return Body(std::string_view(text.append("\n")));
}

// Returns why a handler may not set this field; null if it may.
constexpr const char* why_refused(http::FieldName name) noexcept {
  using enum http::FieldName;
  switch (name) {
    case ContentLength: return "it is computed from the body";
    case TransferEncoding:
    case Trailer:
    case Te: return "the server frames the message";
    case Connection: return "a handler may only set `close`";
    case KeepAlive:
    case ProxyConnection: return "the server decides how long the connection stays open";
    case Upgrade: return "the server switches protocols";
    default: return nullptr;
  }
}

// Reports whether a field needs special handling: those above, and Content-Type.
constexpr bool is_apart(http::FieldName name) noexcept {
  constexpr std::uint64_t apart = [] {
    std::uint64_t names = std::uint64_t{1} << static_cast<unsigned>(http::FieldName::ContentType);
    for (unsigned i = 0; i < 64; ++i) {
      if (why_refused(static_cast<http::FieldName>(i)) != nullptr) names |= std::uint64_t{1} << i;
    }
    return names;
  }();
  return (apart >> static_cast<unsigned>(name) & 1U) != 0;
}

// Reports whether Vary lists a field or `*`; otherwise appends its names, each with a comma.
bool varies(const FieldLines& lines, std::string_view name, std::string& members) {
  for (std::size_t nth = 0; const auto line = lines.find("Vary", nth); ++nth) {
    for (std::string_view rest = *line; !rest.empty();) {
      const std::string_view member = ascii::take_list_element(rest);
      if (member == "*" || ascii::equals_ignoring_case(member, name)) return true;
      if (!member.empty()) members.append(member).append(", ");
    }
  }
  return false;
}

}  // namespace

Response::Response(Status status) : status_(status) {
  if (code(status) < 400) return;
  body_ = status_text(status);
  type_ = KnownType::Plain;
}

Response::Response(Status status, Body body, std::string_view content_type)
    : body_(std::move(body)), status_(status) {
  type(content_type);
}

Response::Response(const PreparedResponse& prepared)
    : prepared_(&prepared),
      body_(Body::borrowed(prepared.body())),
      status_(prepared.status()),
      closes_connection_(prepared.closes_connection_) {}

Response::Response(std::shared_ptr<const PreparedResponse> prepared) : prepared_(prepared.get()) {
  if (prepared == nullptr) throw std::invalid_argument("Response: the prepared response is null");
  status_ = prepared->status();
  closes_connection_ = prepared->closes_connection_;
  const std::string_view text = prepared->body();
  body_ = Body(SharedText{std::move(prepared), text});
}

Response Response::stream(std::string_view type, std::function<Task<>(BodyWriter&)> produce,
                          std::optional<std::uint64_t> length_bytes) {
  if (!produce) throw std::invalid_argument("Response::stream: the producer is empty");
  auto stream = std::make_shared<BodyStream>();
  stream->produce = std::move(produce);
  stream->length_bytes = length_bytes;
  return {Status::Ok, Body(std::shared_ptr<const BodyStream>(std::move(stream))), type};
}

Response Response::redirect(std::string_view to, Status status) {
  if (code(status) < 300 || code(status) > 399) {
    throw std::invalid_argument("redirect: the status is not 3xx");
  }
  Response response(status);
  response.lines_.add("Location", to);
  return response;
}

void Response::set_apart(unsigned known, std::string_view name, std::string_view value) {
  const auto field = static_cast<http::FieldName>(known);
  if (field == http::FieldName::ContentType) return type(value);
  if (field == http::FieldName::Connection && ascii::equals_ignoring_case(value, "close")) {
    closes_connection_ = true;
    return;
  }
  http::throw_bad_field(name, " cannot be set by hand: ", why_refused(field));
}

Response& Response::header(std::string_view name, std::string_view value) & {
  const http::FieldName known = http::find_field_name(name);
  if (is_apart(known)) [[unlikely]]
    return set_apart(static_cast<unsigned>(known), name, value), *this;
  if (known == http::FieldName::SetCookie) {
    FieldLinesAccess::add(lines_, known, name, value);
    return *this;
  }
  if (prepared_ != nullptr && FieldLinesAccess::has(prepared_->lines(), known, name)) unprepare();
  FieldLinesAccess::set(lines_, known, name, value);
  return *this;
}

Response& Response::add_header(std::string_view name, std::string_view value) & {
  const http::FieldName known = http::find_field_name(name);
  if (is_apart(known)) [[unlikely]]
    return set_apart(static_cast<unsigned>(known), name, value), *this;
  FieldLinesAccess::add(lines_, known, name, value);
  return *this;
}

Response& Response::remove_header(std::string_view name) & {
  const http::FieldName known = http::find_field_name(name);
  if (prepared_ != nullptr && header(name)) unprepare();
  if (known == http::FieldName::ContentType) type_ = KnownType::None;
  if (known == http::FieldName::Connection) closes_connection_ = false;
  FieldLinesAccess::remove(lines_, known, name);
  return *this;
}

Response& Response::vary(std::string_view name) & {
  std::string members;
  if (prepared_ != nullptr && varies(prepared_->lines(), name, members)) return *this;
  if (varies(lines_, name, members)) return *this;
  // Keep the prepared head unless it has a Vary of its own.
  if (prepared_ != nullptr && prepared_->lines().find("Vary")) unprepare();
  lines_.set("Vary", members.append(name));
  return *this;
}

Response& Response::cookie(std::string_view name, std::string_view value,
                           const CookieOptions& options) & {
  lines_.add("Set-Cookie", format_set_cookie(name, value, options));
  return *this;
}

Response& Response::status(Status status) & {
  if (status != status_) unprepare();
  status_ = status;
  return *this;
}

Response& Response::body(Body body, std::string_view content_type) & {
  unprepare();
  if (!content_type.empty()) {
    type(content_type);
  } else if (this->content_type().empty()) {
    type(plain_text);
  }
  body_ = std::move(body);
  return *this;
}

std::string_view Response::content_type() const noexcept {
  if (prepared_ != nullptr) return prepared_->content_type();
  if (type_ != KnownType::None) return text(type_);
  return lines_.find("Content-Type").value_or(std::string_view{});
}

std::optional<std::string_view> Response::header(std::string_view name) const noexcept {
  const http::FieldName known = http::find_field_name(name);
  if (known == http::FieldName::ContentType) {
    const std::string_view type = content_type();
    if (type.empty()) return std::nullopt;
    return type;
  }
  if (closes_connection_ && known == http::FieldName::Connection) return "close";
  if (prepared_ != nullptr) {
    if (const auto value = FieldLinesAccess::find(prepared_->lines(), known, name)) return value;
  }
  return FieldLinesAccess::find(lines_, known, name);
}

std::uint64_t Response::known_fields() const noexcept {
  return lines_.known() | (prepared_ == nullptr ? 0 : prepared_->lines().known());
}

void Response::type(std::string_view type) {
  unprepare();
  for (const KnownType known : {KnownType::Plain, KnownType::Html, KnownType::Json}) {
    if (type != text(known)) continue;
    FieldLinesAccess::remove(lines_, http::FieldName::ContentType, "Content-Type");
    type_ = known;
    return;
  }
  FieldLinesAccess::set(lines_, http::FieldName::ContentType, "Content-Type", type);
  type_ = KnownType::None;
}

// Copies the type and fields; the body stays a view of the same bytes.
void Response::unprepare() {
  if (prepared_ == nullptr) return;
  FieldLines lines(prepared_->lines());
  lines.add(lines_);
  lines_ = std::move(lines);
  type_ = prepared_->type_;
  prepared_ = nullptr;
}

// In: a response. Out: its head and body in one string in wire form, without the lines that differ
// each time (Date, Connection).

PreparedResponse::PreparedResponse(const Response& response)
    : status_(response.status()), closes_connection_(response.closes_connection()) {
  if (response.content().file() != nullptr) {
    throw std::invalid_argument("PreparedResponse: the body is a file");
  }
  Response plain(response);
  plain.unprepare();
  type_ = plain.type_;
  lines_ = plain.lines();

  // RFC 9112 §4: the reason phrase may be empty, but the space before it is required.
  wire_ = "HTTP/1.1 " + std::to_string(code(status_)) + ' ';
  wire_.append(reason(status_)).append("\r\n");
  const std::string_view type = plain.static_type();
  if (!type.empty()) wire_.append("Content-Type: ").append(type).append("\r\n");
  wire_.append(lines_.wire());
  if (!is_bodiless(status_)) {
    wire_.append("Content-Length: ").append(std::to_string(plain.body().size())).append("\r\n");
  }
  if (wire_.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw std::invalid_argument("PreparedResponse: the fields are too long");
  }
  head_bytes_ = static_cast<std::uint32_t>(wire_.size());
  if (!is_bodiless(status_)) wire_.append(plain.body());
  wire_.shrink_to_fit();
}

std::string_view PreparedResponse::content_type() const noexcept {
  if (!static_type().empty()) return static_type();
  return lines_.find("Content-Type").value_or(std::string_view{});
}

}  // namespace skua

// In: a request and the response of its handler. Out: the same response, or 304, 412, 206 or 416.
// Malformed validators in the response are ignored.

namespace skua::http {
namespace {

// RFC 9110 §15.4.5: a 304 does not describe content that it does not have.
void make_unchanged(Response& response) {
  response.status(Status::NotModified).body({});
  for (const std::string_view name : {"Content-Type", "Content-Encoding", "Content-Language"}) {
    response.remove_header(name);
  }
}

}  // namespace

void evaluate_conditions(const Request& request, Response& response) {
  const Head& head = *RequestAccess::parts(request).head;
  if (response.status() != Status::Ok) return;
  if (ResponseAccess::is_evaluated(response)) return;  // RFC 9110 §13.2.1
  if (head.method != Method::Get && head.method != Method::Head) return;
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  Validators current;
  const std::optional<std::string_view> etag = response.header("ETag");
  if (etag && parse_entity_tag(*etag)) current.etag = *etag;
  if (const auto date = response.header("Last-Modified")) {
    current.modified = parse_http_date(*date, now);
  }
  if (current.etag.empty() && !current.modified) return;
  switch (check_preconditions(head, current, now)) {
    case Precondition::Proceed: apply_range(head, current, now, response); return;
    case Precondition::NotModified: make_unchanged(response); return;
    case Precondition::Failed: response = Response(Status::PreconditionFailed); return;
  }
}

}  // namespace skua::http
