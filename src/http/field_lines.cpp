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

namespace skua {
namespace {

// One line of the wire form, whose first bytes are at `begin`.
struct Line {
  std::string_view name;
  std::string_view value;
  std::size_t size;  // with CRLF
};

// The lines were made by add(), so each has ": " and ends in CRLF.
Line first_line(std::string_view wire) noexcept {
  const std::size_t colon = wire.find(':');
  const std::size_t end = wire.find('\r', colon);
  return {wire.substr(0, colon), wire.substr(colon + 2, end - colon - 2), end + 2};
}

void check(std::string_view name, std::string_view value) {
  if (!ascii::is_token_text(name)) throw std::invalid_argument("header: the name is not a token");
  if (!std::all_of(value.begin(), value.end(), ascii::is_field_value)) {
    throw std::invalid_argument("header " + std::string(name) +
                                ": the value has a control character");
  }
}

char* append(char* out, std::string_view text) noexcept {
  if (!text.empty()) std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

constexpr std::uint64_t known_bit(http::FieldName name) noexcept {
  return name == http::FieldName::Other ? 0 : std::uint64_t{1} << static_cast<unsigned>(name);
}

}  // namespace

FieldLines::FieldLines(const FieldLines& other) { add(other); }

FieldLines::FieldLines(FieldLines&& other) noexcept
    : heap_(std::move(other.heap_)),
      known_(std::exchange(other.known_, 0)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, static_cast<std::uint32_t>(inline_bytes))) {
  if (!heap_ && size_ != 0) std::memcpy(inline_, other.inline_, size_);
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
  capacity_ = std::exchange(other.capacity_, static_cast<std::uint32_t>(inline_bytes));
  if (!heap_ && size_ != 0) std::memcpy(inline_, other.inline_, size_);
  return *this;
}

std::unique_ptr<char[]> FieldLines::grow(std::size_t more_bytes) {
  const std::size_t wanted = size_ + more_bytes;
  if (wanted <= capacity_) return nullptr;
  if (wanted > std::numeric_limits<std::uint32_t>::max() / 2) {
    throw std::invalid_argument("header: the fields are too long");
  }
  const std::size_t capacity = std::max(wanted, std::size_t{capacity_} * 2);
  auto larger = std::make_unique_for_overwrite<char[]>(capacity);
  append(larger.get(), wire());
  capacity_ = static_cast<std::uint32_t>(capacity);
  return larger;
}

void FieldLines::append_wire(std::initializer_list<std::string_view> texts) {
  std::size_t bytes = 0;
  for (const std::string_view text : texts) bytes += text.size();
  // What is appended may be a view of our own memory: that stays until it was copied.
  std::unique_ptr<char[]> larger = grow(bytes);
  char* out = (larger ? larger.get() : data()) + size_;
  for (const std::string_view text : texts) out = append(out, text);
  if (larger) heap_ = std::move(larger);
  size_ += static_cast<std::uint32_t>(bytes);
}

void FieldLines::add(std::string_view name, std::string_view value) {
  check(name, value);
  known_ |= known_bit(http::find_field_name(name));
  append_wire({name, ": ", value, "\r\n"});
}

void FieldLines::add(const FieldLines& other) {
  known_ |= other.known_;
  append_wire({other.wire()});
}

void FieldLines::set(std::string_view name, std::string_view value) {
  check(name, value);
  // The value may be a view of a line of ours, which would go away.
  if (find(name)) {
    const std::string copy(value);
    remove(name);
    add(name, copy);
  } else {
    add(name, value);
  }
}

void FieldLines::remove(std::string_view name) noexcept {
  char* const begin = data();
  std::size_t kept = 0;
  for (std::size_t at = 0; at < size_;) {
    const Line line = first_line(wire().substr(at));
    if (!ascii::equals_ignoring_case(line.name, name)) {
      std::memmove(begin + kept, begin + at, line.size);
      kept += line.size;
    }
    at += line.size;
  }
  if (kept != size_) known_ &= ~known_bit(http::find_field_name(name));
  size_ = static_cast<std::uint32_t>(kept);
}

std::optional<std::string_view> FieldLines::find(std::string_view name,
                                                 std::size_t nth) const noexcept {
  for (std::string_view rest = wire(); !rest.empty();) {
    const Line line = first_line(rest);
    if (ascii::equals_ignoring_case(line.name, name) && nth-- == 0) return line.value;
    rest.remove_prefix(line.size);
  }
  return std::nullopt;
}

}  // namespace skua
