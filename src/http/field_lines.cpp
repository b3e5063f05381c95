// SPDX-License-Identifier: MIT
// In: names and values. Out: field lines as they go on the wire, kept in that form from the start,
// so that a writer copies them in one piece. Whatever could end a line early is refused here, and
// only here.
#include "skua/field_lines.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/ascii.hpp"
#include "http/field.hpp"
#include "http/field_lines_access.hpp"

namespace skua {
namespace {

using http::FieldName;

constexpr std::size_t longest_name_bytes = 0xffff;

[[noreturn, gnu::cold]] void refuse_name() {
  throw std::invalid_argument("header: the name is not a token");
}

[[noreturn, gnu::cold]] void refuse_value(std::string_view name) {
  throw std::invalid_argument("header " + std::string(name) +
                              ": the value has a control character");
}

using Octets = std::uint8_t __attribute__((vector_size(16)));

/// Eight octets from each of two places.
Octets load(const char* first, const char* second) noexcept {
  char bytes[sizeof(Octets)];
  std::memcpy(bytes, first, sizeof bytes / 2);
  std::memcpy(bytes + sizeof bytes / 2, second, sizeof bytes / 2);
  Octets octets;
  std::memcpy(&octets, bytes, sizeof octets);
  return octets;
}

bool is_zero(Octets octets) noexcept {
  std::uint64_t halves[2];
  std::memcpy(halves, &octets, sizeof halves);
  return (halves[0] | halves[1]) == 0;
}

/// Whether `suspects` finds nothing in a text, which it is shown 16 octets at a time. False also
/// for a text that is too short.
template <class Suspects>
bool is_usual(std::string_view text, const Suspects& suspects) noexcept {
  constexpr std::size_t half = sizeof(Octets) / 2;
  if (text.size() < half) return false;
  const char* at = text.data();
  const char* const last = at + text.size() - half;
  for (; at + half <= last; at += 2 * half) {
    if (!is_zero(suspects(load(at, at + half)))) return false;
  }
  return is_zero(suspects(load(std::min(at, last), last)));
}

/// Nearly all values have no control octet; HTAB is one that is allowed.
bool is_field_text(std::string_view value) noexcept {
  const auto controls = [](Octets octets) -> Octets { return (octets < ' ') | (octets == '\x7f'); };
  return is_usual(value, controls) ||
         std::all_of(value.begin(), value.end(), ascii::is_field_value);
}

/// Nearly all names are letters, digits and hyphens.
bool is_token(std::string_view name) noexcept {
  const auto others = [](Octets octets) -> Octets {
    const Octets letters = (octets | 0x20) - 'a';
    const Octets digits = octets - '0';
    return (letters >= 26) & (digits >= 10) & (octets != '-');
  };
  return is_usual(name, others) || ascii::is_token_text(name);
}

/// A known name is a token.
[[gnu::always_inline]] inline void check(FieldName known, std::string_view name,
                                         std::string_view value) {
  if (known == FieldName::Other && (!is_token(name) || name.size() > longest_name_bytes)) {
    refuse_name();
  }
  if (!is_field_text(value)) refuse_value(name);
}

constexpr std::uint64_t known_bit(std::uint8_t known) noexcept {
  return known == 0 ? 0 : std::uint64_t{1} << known;
}

std::uint8_t find_known(std::string_view name) noexcept {
  return static_cast<std::uint8_t>(http::find_field_name(name));
}

}  // namespace

/// There is room.
[[gnu::always_inline]] inline void FieldLines::write(std::uint8_t known, std::string_view name,
                                                     std::string_view value) noexcept {
  char* const begin = data();
  char* const out = begin + size_;
  char* const behind_name = out + name.size();
  char* const behind_value = behind_name + 2 + value.size();
  std::memcpy(out, name.data(), name.size());
  std::memcpy(behind_name, ": ", 2);
  if (!value.empty()) std::memcpy(behind_name + 2, value.data(), value.size());
  std::memcpy(behind_value, "\r\n", 2);
  size_ += static_cast<std::uint32_t>(name.size() + value.size() + framing_bytes);
  ++count_;
  known_ |= known_bit(known);
  const Line line{.value_bytes = static_cast<std::uint32_t>(value.size()),
                  .name_bytes = static_cast<std::uint16_t>(name.size()),
                  .known = known};
  std::memcpy(begin + capacity_ - count_ * sizeof line, &line, sizeof line);
}

void http::FieldLinesAccess::add(FieldLines& lines, FieldName known, std::string_view name,
                                 std::string_view value) {
  check(known, name, value);
  lines.put(static_cast<std::uint8_t>(known), name, value);
}

void http::FieldLinesAccess::set(FieldLines& lines, FieldName known, std::string_view name,
                                 std::string_view value) {
  check(known, name, value);
  const auto number = static_cast<std::uint8_t>(known);
  if (lines.has(number, name)) return lines.replace(number, name, value);
  lines.put(number, name, value);
}

FieldLines::FieldLines(const FieldLines& other) { add(other); }

FieldLines::FieldLines(FieldLines&& other) noexcept
    : heap_(std::move(other.heap_)),
      known_(std::exchange(other.known_, 0)),
      size_(std::exchange(other.size_, 0)),
      count_(std::exchange(other.count_, 0)),
      capacity_(std::exchange(other.capacity_, static_cast<std::uint32_t>(inline_bytes))) {
  if (!heap_ && count_ != 0) std::memcpy(inline_, other.inline_, inline_bytes);
}

FieldLines& FieldLines::operator=(const FieldLines& other) {
  if (this != &other) *this = FieldLines(other);
  return *this;
}

FieldLines& FieldLines::operator=(FieldLines&& other) noexcept {
  if (this == &other) return *this;
  heap_ = std::move(other.heap_);
  known_ = std::exchange(other.known_, 0);
  size_ = std::exchange(other.size_, 0);
  count_ = std::exchange(other.count_, 0);
  capacity_ = std::exchange(other.capacity_, static_cast<std::uint32_t>(inline_bytes));
  if (!heap_ && count_ != 0) std::memcpy(inline_, other.inline_, inline_bytes);
  return *this;
}

FieldLines::Line FieldLines::line(std::size_t index) const noexcept {
  Line line;
  std::memcpy(&line, data() + capacity_ - (index + 1) * sizeof line, sizeof line);
  return line;
}

void FieldLines::set_line(std::size_t index, Line line) noexcept {
  std::memcpy(data() + capacity_ - (index + 1) * sizeof line, &line, sizeof line);
}

/// Makes more room than there is. What is appended may be a view of our own memory: that is
/// returned if it has moved, and stays until it was copied.
std::unique_ptr<char[]> FieldLines::grow(std::size_t more_bytes, std::size_t more_lines) {
  const std::size_t lines_bytes = count_ * sizeof(Line);
  const std::size_t wanted = size_ + more_bytes + lines_bytes + more_lines * sizeof(Line);
  if (wanted > std::numeric_limits<std::uint32_t>::max() / 2) {
    throw std::invalid_argument("header: the fields are too long");
  }
  const std::size_t capacity = std::max(wanted, std::size_t{capacity_} * 2);
  auto larger = std::make_unique_for_overwrite<char[]>(capacity);
  std::memcpy(larger.get(), data(), size_);
  std::memcpy(larger.get() + capacity - lines_bytes, data() + capacity_ - lines_bytes, lines_bytes);
  capacity_ = static_cast<std::uint32_t>(capacity);
  // Where nothing was on the heap the lines stay inline, too.
  std::unique_ptr<char[]> before = std::exchange(heap_, std::move(larger));
  return before;
}

void FieldLines::put(std::uint8_t known, std::string_view name, std::string_view value) {
  const std::size_t bytes = name.size() + value.size() + framing_bytes;
  if (has_room(bytes, 1)) return write(known, name, value);
  put_behind_growth(known, name, value);
}

void FieldLines::put_behind_growth(std::uint8_t known, std::string_view name,
                                   std::string_view value) {
  const std::unique_ptr<char[]> before = grow(name.size() + value.size() + framing_bytes, 1);
  write(known, name, value);
}

void FieldLines::add(std::string_view name, std::string_view value) {
  http::FieldLinesAccess::add(*this, http::find_field_name(name), name, value);
}

void FieldLines::add(const FieldLines& other) {
  if (&other == this) return add(FieldLines(other));
  if (!has_room(other.size_, other.count_)) grow(other.size_, other.count_);
  http::FieldLinesAccess::for_each(
      other, [this](FieldName known, std::string_view name, std::string_view value) {
        put(static_cast<std::uint8_t>(known), name, value);
      });
}

void FieldLines::set(std::string_view name, std::string_view value) {
  http::FieldLinesAccess::set(*this, http::find_field_name(name), name, value);
}

bool FieldLines::has_other(std::string_view name) const noexcept {
  const char* at = data();
  for (std::size_t i = 0; i < count_; ++i) {
    const Line its = line(i);
    const bool is_candidate = its.known == 0 && its.name_bytes == name.size();
    if (is_candidate && ascii::equals_ignoring_case({at, its.name_bytes}, name)) return true;
    at += its.name_bytes + its.value_bytes + framing_bytes;
  }
  return false;
}

void FieldLines::replace(std::uint8_t known, std::string_view name, std::string_view value) {
  // The texts may be views of a line of ours, which goes away.
  const std::string kept_name(name);
  const std::string kept_value(value);
  remove(known, name);
  put(known, kept_name, kept_value);
}

void FieldLines::remove(std::string_view name) noexcept { remove(find_known(name), name); }

void FieldLines::remove(std::uint8_t known, std::string_view name) noexcept {
  if (!has(known, name)) return;
  char* const begin = data();
  std::size_t kept = 0;
  std::size_t kept_bytes = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    const Line its = line(i);
    const std::size_t size = its.name_bytes + its.value_bytes + framing_bytes;
    const std::string_view its_name(begin + at, its.name_bytes);
    const bool is_it =
        its.known == known && (known != 0 || ascii::equals_ignoring_case(its_name, name));
    if (!is_it) {
      std::memmove(begin + kept_bytes, begin + at, size);
      set_line(kept++, its);
      kept_bytes += size;
    }
    at += size;
  }
  size_ = static_cast<std::uint32_t>(kept_bytes);
  count_ = static_cast<std::uint32_t>(kept);
  known_ &= ~known_bit(known);
}

std::optional<std::string_view> FieldLines::find(std::string_view name,
                                                 std::size_t nth) const noexcept {
  const std::uint8_t known = find_known(name);
  if (known != 0 && (known_ & known_bit(known)) == 0) return std::nullopt;
  const char* at = data();
  for (std::size_t i = 0; i < count_; ++i) {
    const Line its = line(i);
    const std::string_view its_name(at, its.name_bytes);
    const bool is_it =
        its.known == known && (known != 0 || ascii::equals_ignoring_case(its_name, name));
    if (is_it && nth-- == 0) return std::string_view(at + its.name_bytes + 2, its.value_bytes);
    at += its.name_bytes + its.value_bytes + framing_bytes;
  }
  return std::nullopt;
}

}  // namespace skua
