// SPDX-License-Identifier: MIT
// In: decoded fields. Out: a head. The buffer holds, in order of arrival, the texts of the
// pseudo-header fields and the lines of the others, then the joined cookie if it came in crumbs.
// Fields over a limit are counted but not kept, so memory does not grow with repeated fields.
#include "h2/head_builder.hpp"

#include <algorithm>
#include <charconv>

#include "base/ascii.hpp"
#include "http/message/start_line.hpp"
#include "http/message/trailers.hpp"
#include "http/uri/authority.hpp"

namespace skua::h2 {
namespace {

using http::FieldLine;
using http::FieldName;

constexpr std::size_t longest_part = 0xffff;  // limit of a FieldLine
constexpr std::size_t kept_bytes = 8 * 1024;
constexpr std::size_t kept_lines = 64;
/// A section over this many times the limit is not answered.
constexpr std::size_t bomb_factor = 4;

constexpr auto cookie_bit = std::uint64_t{1} << static_cast<unsigned>(FieldName::Cookie);

constexpr std::uint16_t http_port = 80;
constexpr std::uint16_t https_port = 443;

/// Accepts the octets that HTTP/1 allows in a request target.
bool is_target_text(std::string_view text) noexcept {
  unsigned allowed = ascii::PathTarget;
  for (const char c : text) {
    if (!ascii::is(c, allowed)) return false;
    if (c == '?') allowed |= ascii::QueryTarget;
  }
  return true;
}

std::size_t crumb_count(FieldName name, std::string_view value) noexcept {
  if (name != FieldName::Cookie) return 1;
  return 1 + static_cast<std::size_t>(std::count(value.begin(), value.end(), ';'));
}

std::optional<std::uint64_t> number(std::string_view text) noexcept {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::uint64_t> content_length(const http::Head& head) noexcept {
  const FieldLine* const line = head.find(FieldName::ContentLength);
  return line != nullptr ? number(head.value(*line)) : std::nullopt;
}

void HeadBuilder::shrink() noexcept {
  if (bytes_.capacity() > kept_bytes) std::string().swap(bytes_);
  if (lines_.capacity() > kept_lines) std::vector<FieldLine>().swap(lines_);
}

void HeadBuilder::forget() noexcept {
  std::string().swap(bytes_);
  std::vector<FieldLine>().swap(lines_);
  list_bytes_ = 0;
}

void HeadBuilder::start(Kind kind, const HeadLimits& limits) noexcept {
  kind_ = kind;
  limits_ = limits;
  limits_.target_bytes = std::min(limits.target_bytes, longest_part);
  limits_.field_line_bytes = std::min(limits.field_line_bytes, longest_part);
  bytes_.clear();
  lines_.clear();
  known_ = seen_ = 0;
  list_bytes_ = field_count_ = 0;
  pseudos_ = 0;
  has_regular_ = false;
  path_ = authority_ = protocol_ = {};
  length_bytes_.reset();
  error_ = Errc::None;
  status_ = 0;
  method_ = Method::Get;
  method_name_ = {};
  scheme_ = Scheme::None;
  priority_ = {};
  expects_continue_ = false;
}

HeadStatus HeadBuilder::add(const DecodedField& field) {
  const bool has_room = take_room(field);
  if (list_bytes_ > bomb_factor * limits_.list_bytes) return HeadStatus::TooLong;
  if (field.is_malformed) return HeadStatus::Malformed;
  if (field.pseudo != Pseudo::None) return add_pseudo(field, has_room);
  has_regular_ = true;
  if (look_at(field) == HeadStatus::Malformed) return HeadStatus::Malformed;
  const FieldName known = field.known;
  // Redundant: it matches `:authority`.
  if (known == FieldName::Host && authority_.is_there && kind_ == Kind::Request) {
    return HeadStatus::Fine;
  }
  field_count_ += crumb_count(known, field.value);
  if (field_count_ > limits_.fields) fail(Errc::TooManyFields);
  if (has_room && error_ == Errc::None) keep(field.name, field.value, known);
  return HeadStatus::Fine;
}

/// Evaluates fields with a meaning for framing or routing. RFC 9113 §8.1.1, §8.3.1
HeadStatus HeadBuilder::look_at(const DecodedField& field) noexcept {
  const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(field.known);
  const bool is_first = (seen_ & bit) == 0;
  seen_ |= bit;
  switch (field.known) {
    case FieldName::ContentLength:
      if (kind_ == Kind::Trailers) break;
      length_bytes_ = number(field.value);
      return is_first && length_bytes_ ? HeadStatus::Fine : HeadStatus::Malformed;
    case FieldName::Host: {
      if (kind_ != Kind::Request) break;
      const bool agrees = !authority_.is_there || agrees_with_authority(field.value);
      return is_first && agrees ? HeadStatus::Fine : HeadStatus::Malformed;
    }
    case FieldName::Expect:
      if (kind_ != Kind::Request) break;
      expects_continue_ = ascii::equals_ignoring_case(field.value, "100-continue");
      if (!expects_continue_) fail(Errc::UnknownExpectation);  // RFC 9110 §10.1.1
      break;
    case FieldName::Other:
      if (field.name == "priority") priority_ = parse_priority(field.value);
      break;
    default: break;
  }
  return HeadStatus::Fine;
}

bool HeadBuilder::take_room(const DecodedField& field) noexcept {
  const std::size_t line_bytes = field.name.size() + field.value.size();
  const bool is_target = field.pseudo == Pseudo::Path || field.pseudo == Pseudo::Authority;
  list_bytes_ += line_bytes + field_charge;
  if (list_bytes_ > limits_.list_bytes) {
    fail(Errc::HeadTooLong);
  } else if (is_target && field.value.size() > limits_.target_bytes) {
    fail(Errc::TargetTooLong);
  } else if (!is_target && line_bytes > limits_.field_line_bytes) {
    fail(Errc::FieldTooLong);
  } else {
    return true;
  }
  return false;
}

/// RFC 9113 §8.3: only those for the kind of message, once each, before all other fields.
HeadStatus HeadBuilder::add_pseudo(const DecodedField& field, bool has_room) {
  const bool is_of_response = field.pseudo == Pseudo::Status;
  const Kind kind = is_of_response ? Kind::Response : Kind::Request;
  if (kind_ != kind || has_regular_ || has_pseudo(field.pseudo)) return HeadStatus::Malformed;
  pseudos_ |= static_cast<std::uint8_t>(1U << static_cast<unsigned>(field.pseudo));
  if (!has_room) return HeadStatus::Fine;
  switch (field.pseudo) {
    case Pseudo::Method: take_method(field.value); break;
    case Pseudo::Path: path_ = keep_text(field.value); break;
    case Pseudo::Scheme:
      scheme_ = ascii::equals_ignoring_case(field.value, "https")  ? Scheme::Https
                : ascii::equals_ignoring_case(field.value, "http") ? Scheme::Http
                                                                   : Scheme::Other;
      break;
    case Pseudo::Protocol: protocol_ = keep_text(field.value); break;
    case Pseudo::Status:
      status_ = static_cast<std::uint16_t>(number(field.value).value_or(0));
      break;
    case Pseudo::Authority:
      ++field_count_;
      keep("host", field.value, FieldName::Host);
      authority_ = {lines_.back().value_begin, lines_.back().value_bytes, true};
      break;
    case Pseudo::None:
    case Pseudo::Unknown: return HeadStatus::Malformed;
  }
  return HeadStatus::Fine;
}

void HeadBuilder::take_method(std::string_view value) {
  const std::optional<Method> known = parse_method(value);
  method_ = known.value_or(Method::Other);
  if (known) return;
  if (value.size() <= http::longest_method) method_name_ = keep_text(value);
  if (!http::may_be_other_method(value)) fail(Errc::UnknownMethod);
}

HeadBuilder::Text HeadBuilder::keep_text(std::string_view text) {
  const Text kept{static_cast<std::uint32_t>(bytes_.size()),
                  static_cast<std::uint32_t>(text.size()), true};
  bytes_.append(text);
  return kept;
}

void HeadBuilder::keep(std::string_view name, std::string_view value, FieldName known) {
  const Text kept_name = keep_text(name);
  const Text kept_value = keep_text(value);
  lines_.push_back({.name_begin = kept_name.begin,
                    .value_begin = kept_value.begin,
                    .name_bytes = static_cast<std::uint16_t>(name.size()),
                    .value_bytes = static_cast<std::uint16_t>(value.size()),
                    .name = known});
  known_ |= std::uint64_t{1} << static_cast<unsigned>(known);
}

bool HeadBuilder::agrees_with_authority(std::string_view host) const noexcept {
  const std::string_view authority = view(authority_);
  if (authority == host) return true;
  const std::uint16_t port = scheme_ == Scheme::Https ? https_port : http_port;
  return http::is_authority(authority) && http::is_authority(host) &&
         http::is_same_authority(authority, host, port);
}

/// RFC 9113 §8.2.3: crumbs are joined with "; " into one field before code for HTTP/1 sees it.
void HeadBuilder::join_cookies() {
  const auto is_cookie = [](const FieldLine& line) { return line.name == FieldName::Cookie; };
  const auto first = std::find_if(lines_.begin(), lines_.end(), is_cookie);
  if (first == lines_.end()) return;
  auto next = std::find_if(first + 1, lines_.end(), is_cookie);
  if (next == lines_.end()) return;

  const std::size_t begin = bytes_.size();
  const auto append = [this](const FieldLine& line) {
    bytes_.append(bytes_, line.value_begin, line.value_bytes);
  };
  append(*first);
  for (; next != lines_.end(); next = std::find_if(next + 1, lines_.end(), is_cookie)) {
    bytes_.append("; ");
    append(*next);
  }
  const std::size_t size = bytes_.size() - begin;
  if (size > limits_.field_line_bytes) return fail(Errc::FieldTooLong);
  first->value_begin = static_cast<std::uint32_t>(begin);
  first->value_bytes = static_cast<std::uint16_t>(size);
  lines_.erase(std::remove_if(first + 1, lines_.end(), is_cookie), lines_.end());
}

http::Head HeadBuilder::head() const noexcept {
  http::Head head;
  head.base = bytes_.data();
  head.fields = lines_;
  head.known = known_;
  head.size_bytes = static_cast<std::uint32_t>(list_bytes_);
  head.major_version = 2;
  head.minor_version = 0;
  return head;
}

/// RFC 9113 §8.3.1, §8.5; 8441 §4
bool HeadBuilder::has_what_a_request_needs() const noexcept {
  if (!has_pseudo(Pseudo::Method)) return false;
  const bool is_connect = method_ == Method::Connect;
  if (has_pseudo(Pseudo::Protocol) && !is_connect) return false;
  if (is_connect && !has_pseudo(Pseudo::Protocol)) {
    return has_pseudo(Pseudo::Authority) && !has_pseudo(Pseudo::Scheme) &&
           !has_pseudo(Pseudo::Path);
  }
  const auto host = std::uint64_t{1} << static_cast<unsigned>(FieldName::Host);
  return has_pseudo(Pseudo::Scheme) && has_pseudo(Pseudo::Path) &&
         (has_pseudo(Pseudo::Authority) || (seen_ & host) != 0);
}

/// A head has an unknown method before its target, as in HTTP/1.
void HeadBuilder::join_method() {
  const Text target{static_cast<std::uint32_t>(bytes_.size() + method_name_.size + 1), path_.size,
                    true};
  bytes_.append(bytes_, method_name_.begin, method_name_.size).append(" ");
  bytes_.append(bytes_, path_.begin, path_.size);
  path_ = target;
}

HeadStatus HeadBuilder::finish_request(RequestHead& request, http::LastAuthority& hosts) {
  if (!has_what_a_request_needs()) return HeadStatus::Malformed;
  if (error_ == Errc::None && (known_ & cookie_bit) != 0) join_cookies();
  const bool has_other_method = method_name_.is_there && path_.is_there;
  if (has_other_method) join_method();
  request.head = head();
  request.head.method = method_;
  if (has_other_method) request.head.method_bytes = static_cast<std::uint8_t>(method_name_.size);
  request.protocol = view(protocol_);
  request.length_bytes = length_bytes_;
  request.priority = priority_;
  request.is_https = scheme_ == Scheme::Https;
  request.expect_continue = expects_continue_;
  if (decide_target(request) == HeadStatus::Malformed) return HeadStatus::Malformed;
  decide_host(request, hosts);
  request.error = error_;
  return HeadStatus::Fine;
}

/// RFC 9113 §8.3.1, §8.5; RFC 8441 §4. Allows the target forms of HTTP/1, except absolute form.
HeadStatus HeadBuilder::decide_target(RequestHead& request) noexcept {
  const bool is_tunnel = method_ == Method::Connect && !protocol_.is_there;
  const Text& target = is_tunnel ? authority_ : path_;
  request.path_and_query = {};
  if (!target.is_there) {  // it was too long to keep
    return error_ == Errc::None ? HeadStatus::Malformed : HeadStatus::Fine;
  }
  request.head.target_begin = target.begin;
  request.head.target_bytes = static_cast<std::uint16_t>(target.size);
  const std::string_view text = view(target);
  if (is_tunnel) {
    // RFC 9113 §8.5: host and port.
    if (!http::is_authority(text) || http::port_of(text, 0) == 0) fail(Errc::MalformedTarget);
    return HeadStatus::Fine;
  }
  const bool is_asterisk = text == "*" && request.head.method == Method::Options;
  const bool is_path = text.starts_with('/') && is_target_text(text);
  const bool is_ours = scheme_ == Scheme::Https || scheme_ == Scheme::Http;
  if (text.empty() || (is_ours && !text.starts_with('/') && !is_asterisk)) {
    return HeadStatus::Malformed;
  }
  if (!is_ours || !(is_path || is_asterisk)) fail(Errc::MalformedTarget);
  request.path_and_query = text;
  return HeadStatus::Fine;
}

void HeadBuilder::decide_host(RequestHead& request, http::LastAuthority& hosts) noexcept {
  const FieldLine* const line = request.head.find(FieldName::Host);
  request.host = line != nullptr ? request.head.value(*line) : std::string_view();
  if (!hosts.is_authority(request.host)) fail(Errc::InvalidHost);
}

/// RFC 9113 §8.3.2, §8.6
HeadStatus HeadBuilder::finish_response(http::Head& response) noexcept {
  response = head();
  const bool is_status = status_ >= 100 && status_ != code(Status::SwitchingProtocols);
  if (!is_status && error_ == Errc::None) return HeadStatus::Malformed;
  response.status = status_;
  // RFC 9110 §8.6: 1xx and 204 must not have a Content-Length; 0 in a 204 is harmless.
  const std::uint64_t length = length_bytes_.value_or(0);
  const bool has_length = length_bytes_.has_value();
  const bool is_interim = is_status && status_ < 200;
  const bool is_wrong =
      has_length && (is_interim || (status_ == code(Status::NoContent) && length != 0));
  return is_wrong ? HeadStatus::Malformed : HeadStatus::Fine;
}

HeadStatus HeadBuilder::finish_trailers(http::Head& trailers) noexcept {
  if (error_ != Errc::None) return HeadStatus::TooLong;
  const auto is_banned = [this](const FieldLine& line) {
    const std::string_view name(bytes_.data() + line.name_begin, line.name_bytes);
    return !http::is_allowed_in_trailers(line.name, name);
  };
  lines_.erase(std::remove_if(lines_.begin(), lines_.end(), is_banned), lines_.end());
  known_ = 0;
  for (const FieldLine& line : lines_) {
    known_ |= std::uint64_t{1} << static_cast<unsigned>(line.name);
  }
  trailers = head();
  return HeadStatus::Fine;
}

}  // namespace skua::h2
