// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "skua/config.hpp"

namespace skua {

namespace http {
struct FieldLinesAccess;
}  // namespace http

/// Field lines as sent, `Name: value\r\n` each, in one block of memory that starts inline.
///
/// ```cpp
/// for (const skua::FieldLines::Line line : lines) std::cout << line.name << '\n';
/// ```
class SKUA_API FieldLines final {
 public:
  static constexpr std::size_t inline_bytes = 116;

  /// A line as it was added, with any white space around its value.
  struct Line {
    std::string_view name{};
    std::string_view value{};
    std::uint8_t known = 0;  ///< the number of its http::FieldName, 0 for other names
  };
  class Iterator;

  FieldLines() noexcept = default;
  FieldLines(const FieldLines& other);
  FieldLines(FieldLines&& other) noexcept {
    if (!other.empty()) take(other);
  }
  FieldLines& operator=(const FieldLines& other);
  FieldLines& operator=(FieldLines&& other) noexcept;
  ~FieldLines() = default;

  /// Appends a line.
  ///
  /// Ends with: std::invalid_argument for a name that is not a token, and for a value with CR, LF,
  ///            NUL or another control character.
  /// RFC:       9110 §5.1, §5.5
  void add(std::string_view name, std::string_view value);
  /// Appends every line of another list.
  void add(const FieldLines& other);
  /// Removes every line with this name, then appends one.
  void set(std::string_view name, std::string_view value);
  void remove(std::string_view name) noexcept;
  /// The value of the first line with this name, or of the nth after it.
  [[nodiscard]] std::optional<std::string_view> find(
      std::string_view name, std::size_t nth = 0) const noexcept SKUA_LIFETIMEBOUND;

  /// All lines, ready to be sent.
  [[nodiscard]] std::string_view wire() const noexcept SKUA_LIFETIMEBOUND {
    return {data(), size_};
  }
  /// Iterates over the lines in order; nothing is parsed.
  [[nodiscard]] Iterator begin() const noexcept SKUA_LIFETIMEBOUND;
  [[nodiscard]] Iterator end() const noexcept SKUA_LIFETIMEBOUND;
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// The number of lines.
  [[nodiscard]] std::size_t size() const noexcept { return records_bytes() / sizeof(Record); }
  /// Bit n is set if there is a line with the n-th http::FieldName.
  [[nodiscard]] std::uint64_t known() const noexcept { return known_ & ~std::uint64_t{1}; }

 private:
  friend struct http::FieldLinesAccess;

  // A line's record: its name's number (8 bits) and length (24), its value's length (32).
  using Record = std::uint64_t;
  // `: ` and CRLF.
  static constexpr std::size_t punctuation_bytes = 4;

  [[nodiscard]] static Record record_before(const char* p) noexcept {
    Record record;
    std::memcpy(&record, p - sizeof record, sizeof record);
    return record;
  }
  [[nodiscard]] static std::size_t name_bytes(Record record) noexcept {
    return static_cast<std::size_t>(record >> 8 & 0xffffffU);
  }
  [[nodiscard]] static std::size_t value_bytes(Record record) noexcept {
    return static_cast<std::size_t>(record >> 32);
  }
  [[nodiscard]] static std::size_t line_bytes(Record record) noexcept {
    return name_bytes(record) + value_bytes(record) + punctuation_bytes;
  }

  [[nodiscard]] const char* data() const noexcept { return heap_ ? heap_.get() : inline_; }
  [[nodiscard]] char* data() noexcept { return heap_ ? heap_.get() : inline_; }
  [[nodiscard]] std::size_t records_bytes() const noexcept { return capacity_ - records_at_; }
  [[nodiscard]] bool has_room(std::size_t bytes) const noexcept {
    return bytes <= records_at_ - size_;
  }
  void take(FieldLines& other) noexcept;
  [[nodiscard]] std::unique_ptr<char[]> grow(std::size_t more_bytes);
  // `known` is the name's number; a name with a number is a token.
  void add(unsigned known, std::string_view name, std::string_view value);
  void add_grown(unsigned known, std::string_view name, std::string_view value);
  void replace(unsigned known, std::string_view name, std::string_view value);
  void remove(unsigned known, std::string_view name) noexcept;
  [[nodiscard]] bool has(unsigned known, std::string_view name) const noexcept {
    if ((known_ >> known & 1U) == 0) return false;
    return known != 0 || has_other(name);
  }
  [[nodiscard]] bool has_other(std::string_view name) const noexcept;
  [[nodiscard]] std::optional<std::string_view> find(unsigned known, std::string_view name,
                                                     std::size_t nth) const noexcept;

  // | lines, in order -> | room | <- records, the first one last |
  std::unique_ptr<char[]> heap_;
  std::uint64_t known_ = 0;  // bit 0: there may be lines with other names
  std::uint32_t size_ = 0;   // of the lines
  std::uint32_t capacity_ = inline_bytes;
  std::uint32_t records_at_ = inline_bytes;  // position of the last line's record
  char inline_[inline_bytes];
};

/// Iterates over lines; each is built on access.
class FieldLines::Iterator final {
 public:
  using value_type = Line;
  using difference_type = std::ptrdiff_t;

  Iterator() noexcept = default;
  [[nodiscard]] Line operator*() const noexcept {
    const Record record = record_before(record_end_);
    const std::size_t name_size = name_bytes(record);
    return {.name = {line_, name_size},
            .value = {line_ + name_size + 2, value_bytes(record)},
            .known = static_cast<std::uint8_t>(record)};
  }
  Iterator& operator++() noexcept {
    line_ += line_bytes(record_before(record_end_));
    record_end_ -= sizeof(Record);
    return *this;
  }
  Iterator operator++(int) noexcept {
    const Iterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const Iterator& a, const Iterator& b) noexcept {
    return a.line_ == b.line_;
  }

 private:
  friend class FieldLines;
  Iterator(const char* line, const char* record_end) noexcept
      : line_(line), record_end_(record_end) {}

  const char* line_ = nullptr;
  const char* record_end_ = nullptr;
};

inline FieldLines::Iterator FieldLines::begin() const noexcept {
  return {data(), data() + capacity_};
}
inline FieldLines::Iterator FieldLines::end() const noexcept { return {data() + size_, nullptr}; }

}  // namespace skua
