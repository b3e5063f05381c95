// SPDX-License-Identifier: MIT
// In: names and values. Out: field lines, stored in wire form so that HTTP/1 copies them in one
// piece, and a record of each at the other end of the same memory, so that nobody parses them
// again. Anything that could end a line early is refused here, and only here. Rare operations are
// in field_lines_change.cpp.
#include "skua/field_lines.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/ascii.hpp"
#include "base/scan/whole.hpp"
#include "http/message/field.hpp"
#include "http/message/field_lines_access.hpp"

namespace skua {
namespace {

// Nearly all lists that outgrow the inline memory fit in this.
constexpr std::size_t first_heap_bytes = 480;

// Texts are nearly always short: a call costs more than the copy.
inline char* put_short(char* out, std::string_view text) noexcept {
  const std::size_t size = text.size();
  const char* const from = text.data();
  char* const end = out + size;
  if (size > 32 || size < 4) {
    if (size != 0) std::memcpy(out, from, size);
  } else if (size >= 16) {  // two overlapping halves
    std::memcpy(out, from, 16);
    std::memcpy(end - 16, from + size - 16, 16);
  } else if (size >= 8) {
    std::memcpy(out, from, 8);
    std::memcpy(end - 8, from + size - 8, 8);
  } else {
    std::memcpy(out, from, 4);
    std::memcpy(end - 4, from + size - 4, 4);
  }
  return end;
}

void copy(char* out, const char* from, std::size_t size) noexcept {
  if (size != 0) std::memcpy(out, from, size);
}

}  // namespace

void FieldLines::take(FieldLines& other) noexcept {
  heap_ = std::move(other.heap_);
  known_ = std::exchange(other.known_, 0);
  size_ = std::exchange(other.size_, 0);
  capacity_ = std::exchange(other.capacity_, static_cast<std::uint32_t>(inline_bytes));
  records_at_ = std::exchange(other.records_at_, static_cast<std::uint32_t>(inline_bytes));
  if (!heap_ && size_ != 0) std::memcpy(inline_, other.inline_, inline_bytes);
}

void FieldLines::add(std::string_view name, std::string_view value) {
  add(http::known_number(name), name, value);
}

void FieldLines::add(unsigned known, std::string_view name, std::string_view value) {
  const std::size_t bytes = name.size() + value.size() + punctuation_bytes;
  if (!has_room(bytes + sizeof(Record))) [[unlikely]]
    return add_grown(known, name, value);
  // Known names are tokens.
  if (known == 0 && (!scan::is_token_text(name) || name.size() > http::longest_name_bytes))
      [[unlikely]]
    http::throw_bad_field_name(name);
  if (!scan::is_field_value(value)) [[unlikely]]
    http::throw_bad_field(name, ": the value contains a control character");
  char* const block = data();
  char* out = put_short(block + size_, name);
  *out++ = ':';
  *out++ = ' ';
  out = put_short(out, value);
  *out++ = '\r';
  *out++ = '\n';
  const Record record = Record{value.size()} << 32 | Record{name.size()} << 8 | known;
  records_at_ -= static_cast<std::uint32_t>(sizeof record);
  std::memcpy(block + records_at_, &record, sizeof record);
  known_ |= std::uint64_t{1} << known;
  size_ += static_cast<std::uint32_t>(bytes);
}

// Makes room and returns the previous memory: the text to append may be a view of it.
std::unique_ptr<char[]> FieldLines::grow(std::size_t more_bytes) {
  const std::size_t wanted = size_ + records_bytes() + more_bytes;
  if (wanted > std::numeric_limits<std::uint32_t>::max() / 2) http::refuse_fields();
  const std::size_t capacity = std::max({wanted, first_heap_bytes, std::size_t{capacity_} * 2});
  const std::size_t records = records_bytes();
  auto larger = std::make_unique_for_overwrite<char[]>(capacity);
  copy(larger.get(), data(), size_);
  copy(larger.get() + capacity - records, data() + records_at_, records);
  capacity_ = static_cast<std::uint32_t>(capacity);
  records_at_ = static_cast<std::uint32_t>(capacity - records);
  heap_.swap(larger);
  return larger;
}

void FieldLines::add_grown(unsigned known, std::string_view name, std::string_view value) {
  const std::size_t bytes = name.size() + value.size() + punctuation_bytes;
  const std::unique_ptr<char[]> before = grow(bytes + sizeof(Record));
  add(known, name, value);
}

void FieldLines::add(const FieldLines& other) {
  const std::size_t records = other.records_bytes();
  const std::string_view lines = other.wire();
  const char* const from = other.data() + other.records_at_;
  std::unique_ptr<char[]> before;  // may belong to `other`, which may be this list
  if (!has_room(lines.size() + records)) before = grow(lines.size() + records);
  copy(data() + size_, lines.data(), lines.size());
  copy(data() + records_at_ - records, from, records);
  known_ |= other.known_;
  size_ += static_cast<std::uint32_t>(lines.size());
  records_at_ -= static_cast<std::uint32_t>(records);
}

void FieldLines::set(std::string_view name, std::string_view value) {
  http::FieldLinesAccess::set(*this, http::find_field_name(name), name, value);
}

std::optional<std::string_view> FieldLines::find(std::string_view name,
                                                 std::size_t nth) const noexcept {
  return find(http::known_number(name), name, nth);
}

std::optional<std::string_view> FieldLines::find(unsigned known, std::string_view name,
                                                 std::size_t nth) const noexcept {
  if (known != 0 && !has(known, name)) return std::nullopt;
  for (const Line line : *this) {
    if (http::is_named(line, known, name) && nth-- == 0) return line.value;
  }
  return std::nullopt;
}

bool FieldLines::has_other(std::string_view name) const noexcept {
  // The record rules out most lines: they have a known name, or one of another length.
  const auto wanted = static_cast<std::uint32_t>(name.size() << 8);
  const Iterator last = end();
  for (Iterator line = begin(); line != last; ++line) {
    if (static_cast<std::uint32_t>(record_before(line.record_end_)) != wanted) continue;
    if (ascii::equals_ignoring_case((*line).name, name)) return true;
  }
  return false;
}

}  // namespace skua
