// SPDX-License-Identifier: MIT
// In: `Name: value\r\n` lines. Out: header blocks.
#include "h2/field_block.hpp"

#include <charconv>

#include "base/ascii.hpp"
#include "h2/hpack_rules.hpp"
#include "http/message/field.hpp"

namespace skua::h2 {
namespace {

using http::FieldName;

constexpr std::size_t longest_number = 20;

/// Reports whether a TE list contains `trailers`. RFC 9110 §10.1.4
bool says_trailers(std::string_view list) noexcept {
  while (!list.empty()) {
    const std::size_t end = list.find(',');
    const std::string_view item = list.substr(0, end);
    if (ascii::equals_ignoring_case(ascii::trim_ows(item), "trailers")) return true;
    list = end == std::string_view::npos ? std::string_view() : list.substr(end + 1);
  }
  return false;
}

/// Calls `use` for each field that HTTP/2 allows, with its value trimmed. RFC 9113 §8.2.1, §8.2.2
template <class Use>
void for_each_line(std::string_view lines, const Use& use) {
  while (!lines.empty()) {
    const std::size_t end = lines.find("\r\n");
    const std::string_view line = lines.substr(0, end);
    lines = end == std::string_view::npos ? std::string_view() : lines.substr(end + 2);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, colon);
    const FieldName known = http::find_field_name(name);
    if (rules::is_connection_specific(known)) continue;
    use(known, name, ascii::trim_ows(line.substr(colon + 1)));
  }
}

/// Calls `use(known, name, value)` for each field of a request as it is sent.
template <class Use>
void for_each_request_field(std::string_view lines, const Use& use) {
  for_each_line(lines, [&use](FieldName known, std::string_view name, std::string_view value) {
    switch (known) {
      case FieldName::Host:           // sent as `:authority`
      case FieldName::ContentLength:  // written separately
        return;
      case FieldName::Te:
        // RFC 9113 §8.2.2: no other value is allowed.
        if (says_trailers(value)) use(known, "te", "trailers");
        return;
      case FieldName::Cookie:
        while (!value.empty()) {
          const std::size_t end = value.find("; ");
          if (end != 0) use(known, "cookie", value.substr(0, end));
          value = end == std::string_view::npos ? std::string_view() : value.substr(end + 2);
        }
        return;
      default: use(known, name, value);
    }
  });
}

void show_field(std::string& shown, std::string_view name, std::string_view value) {
  for (const char c : name) shown.push_back(ascii::to_lower(c));
  shown.append(": ").append(value).append("\r\n");
}

void write_fields(HpackEncoder& encoder, const FieldLines& fields, std::string& block) {
  for (const FieldLines::Line line : fields) {
    const auto known = static_cast<FieldName>(line.known);
    if (rules::is_connection_specific(known)) continue;
    encoder.add(block, known, line.name, ascii::trim_ows(line.value));
  }
}

void write_length(HpackEncoder& encoder, std::uint64_t length, std::string& block) {
  char digits[longest_number];
  const char* const end = std::to_chars(digits, digits + longest_number, length).ptr;
  encoder.add(block, FieldName::ContentLength, "content-length",
              {digits, static_cast<std::size_t>(end - digits)});
}

}  // namespace

void write_lines(HpackEncoder& encoder, std::string_view lines, std::string& block) {
  for_each_line(lines, [&](FieldName known, std::string_view name, std::string_view value) {
    encoder.add(block, known, name, value);
  });
}

void write_response(HpackEncoder& encoder, const ResponseHead& head, std::string& block) {
  encoder.add_status(block, static_cast<std::uint16_t>(code(head.status)));
  if (!head.date.empty()) encoder.add(block, FieldName::Date, "date", head.date);
  if (!head.server.empty()) encoder.add(block, FieldName::Server, "server", head.server);
  if (!head.content_type.empty()) {
    encoder.add(block, FieldName::ContentType, "content-type", head.content_type);
  }
  if (head.length_bytes) write_length(encoder, *head.length_bytes, block);
  if (head.prepared_fields != nullptr) write_fields(encoder, *head.prepared_fields, block);
  if (head.fields != nullptr) write_fields(encoder, *head.fields, block);
}

void write_request(HpackEncoder& encoder, const RequestLines& head, std::string& block) {
  encoder.add_pseudo(block, Pseudo::Method,
                     head.other_method.empty() ? name(head.method) : head.other_method);
  if (!head.protocol.empty()) encoder.add_pseudo(block, Pseudo::Protocol, head.protocol);
  encoder.add_pseudo(block, Pseudo::Scheme, head.scheme);
  encoder.add_pseudo(block, Pseudo::Authority, head.authority);
  encoder.add_pseudo(block, Pseudo::Path, head.path);
  if (head.length_bytes) {
    write_length(encoder, *head.length_bytes, block);
    if (head.shown != nullptr) {
      show_field(*head.shown, "content-length", std::to_string(*head.length_bytes));
    }
  }
  for_each_request_field(head.fields,
                         [&](FieldName known, std::string_view name, std::string_view value) {
                           encoder.add(block, known, name, value);
                           if (head.shown != nullptr) show_field(*head.shown, name, value);
                         });
}

}  // namespace skua::h2
