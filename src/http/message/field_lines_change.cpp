// SPDX-License-Identifier: MIT
// Rare operations on field lines, compiled for size: assignment, removal and refusal.
#include "skua/field_lines.hpp"

#include <cstring>
#include <stdexcept>
#include <string>

#include "base/ascii.hpp"
#include "http/message/field_lines_access.hpp"

namespace skua {

namespace http {

void refuse_fields() { throw std::invalid_argument("header: the fields are too long"); }

void throw_bad_field_name(std::string_view name) {
  if (ascii::is_token_text(name)) refuse_fields();
  throw std::invalid_argument("header: the name is not a token");
}

void throw_bad_field(std::string_view name, std::string_view problem, std::string_view why) {
  throw std::invalid_argument(std::string("header ").append(name).append(problem).append(why));
}

}  // namespace http

FieldLines::FieldLines(const FieldLines& other) { add(other); }

FieldLines& FieldLines::operator=(const FieldLines& other) {
  if (this != &other) *this = FieldLines(other);
  return *this;
}

FieldLines& FieldLines::operator=(FieldLines&& other) noexcept {
  if (this != &other) take(other);
  return *this;
}

void FieldLines::replace(unsigned known, std::string_view name, std::string_view value) {
  // Built first: it may be refused, and its name and value may be views of lines that go away.
  FieldLines line;
  line.add(known, name, value);
  remove(known, (*line.begin()).name);
  add(line);
}

void FieldLines::remove(std::string_view name) noexcept { remove(http::known_number(name), name); }

void FieldLines::remove(unsigned known, std::string_view name) noexcept {
  if (!has(known, name)) return;
  char* const block = data();
  std::size_t kept = 0;
  std::uint32_t records_at = capacity_;
  const Iterator last = end();
  for (Iterator next = begin(); next != last;) {
    const Iterator line = next++;
    if (http::is_named(*line, known, name)) continue;
    const Record record = record_before(line.record_end_);
    const std::size_t bytes = line_bytes(record);
    std::memmove(block + kept, line.line_, bytes);
    kept += bytes;
    records_at -= static_cast<std::uint32_t>(sizeof record);
    std::memcpy(block + records_at, &record, sizeof record);
  }
  if (known != 0) known_ &= ~(std::uint64_t{1} << known);
  size_ = static_cast<std::uint32_t>(kept);
  records_at_ = records_at;
}

}  // namespace skua
