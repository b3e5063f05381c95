// SPDX-License-Identifier: MIT
// In: a seed for splits, a Content-Type on its own line, content. Checked: the parts, their heads
// and content, the end and the error do not depend on how the content is split; limits hold; output
// does not exceed input; and the parts survive being written and read again.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "http/form/form_reader.hpp"
#include "http/form/multipart_parser.hpp"
#include "skua/multipart_writer.hpp"

namespace {

using skua::http::MultipartParser;
using skua::http::MultipartStatus;

constexpr skua::MultipartLimits small{.parts = 5, .part_head_bytes = 200, .part_fields = 4};

void check(bool holds) {
  if (!holds) std::abort();
}

std::string head_of(const MultipartParser& parser) {
  std::string text = "\npart";
  check(parser.field_count() <= small.part_fields);
  for (std::size_t i = 0; i < parser.field_count(); ++i) {
    const skua::http::PartField field = parser.field(i);
    check(!field.name.empty() && field.value.find_first_of("\r\n") == field.value.npos);
    check(parser.find(field.name).has_value());
    text.append("\n").append(field.name).append(":").append(field.value);
  }
  return text + "\n";
}

std::string read(const skua::http::Boundary& boundary, std::string_view content,
                 std::uint32_t seed) {
  MultipartParser parser(boundary, small);
  std::string text;
  std::size_t parts = 0;
  std::size_t handed_out = 0;
  MultipartStatus status = MultipartStatus::More;
  for (std::size_t end = 0; end < content.size() && status != MultipartStatus::Failed;) {
    seed = seed * 1664525U + 1013904223U;
    const std::size_t begin = end;
    end = std::min(content.size(), end + 1 + (seed >> 27U));
    const std::string piece(content.substr(begin, end - begin));
    std::string_view input = piece;
    for (std::size_t steps = 0;; ++steps) {
      check(steps <= 4 * piece.size() + 8);
      const MultipartParser::Step step = parser.step(input);
      check(step.consumed_bytes <= input.size());
      check(step.data.empty() || step.status == MultipartStatus::More);
      input.remove_prefix(step.consumed_bytes);
      text += step.data;
      handed_out += step.data.size();
      status = step.status;
      if (status == MultipartStatus::Part) text += head_of(parser), ++parts;
      if (status == MultipartStatus::PartEnd) text += "\nend";
      if (status == MultipartStatus::Failed) break;
      if (status != MultipartStatus::Part && status != MultipartStatus::PartEnd && input.empty()) {
        break;
      }
    }
  }
  check(parts <= small.parts && handed_out <= content.size());
  const auto end = parser.end_of_input();
  return text + "\n" + std::to_string(end ? 0 : static_cast<int>(end.error().code()));
}

// Writes the fields of a form, and reads them again.
void round_trip(const skua::Form& form) {
  skua::MultipartWriter writer;
  skua::Form wanted;
  for (const auto [name, value] : form) {
    writer.field(name, value);
    // A literal `%` cannot be told from a browser's percent-encoding.
    if (name.find('%') == name.npos) wanted.add(name, value);
  }
  std::string content(*writer.length_bytes() + 1, '\0');
  check(writer.read(content).value() == content.size() - 1);
  content.pop_back();
  const auto again = skua::Form::parse_content(writer.content_type(), content);
  check(again.has_value() && again->size() == form.size());
  for (const auto [name, value] : wanted) {
    const bool has_control = std::any_of(name.begin(), name.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == '\x7f';
    });
    check(has_control || again->get(name).has_value());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::uint32_t seed = data[0] | static_cast<std::uint32_t>(data[1]) << 8U;
  const std::string all(reinterpret_cast<const char*>(data + 2), size - 2);
  const std::size_t line = all.find('\n');
  if (line == all.npos) return 0;
  const std::string content_type = all.substr(0, line);
  const std::string content = all.substr(line + 1);
  if (const auto boundary = skua::http::parse_boundary(content_type)) {
    check(skua::http::Boundary::make(boundary->text()).has_value());
    check(read(*boundary, content, seed) == read(*boundary, content, seed * 7U + 1U));
  }
  const skua::FormLimits limits{.fields = 6, .total_bytes = 300};
  const auto form = skua::Form::parse_content(content_type, content, limits);
  if (!form) return 0;
  check(form->size() <= limits.fields && form->total_bytes() <= limits.total_bytes);
  check(skua::Form::parse(form->to_string()).value() == *form);
  round_trip(*form);
  return 0;
}
