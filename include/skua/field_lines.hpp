// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "skua/config.hpp"

namespace skua {

namespace http {
struct FieldLinesAccess;
}  // namespace http

/// Field lines as they go on the wire, `Name: value\r\n` each, in one piece of memory that starts
/// inline.
class FieldLines final {
 public:
  static constexpr std::size_t inline_bytes = 256;

  FieldLines() noexcept = default;
  FieldLines(const FieldLines& other);
  FieldLines(FieldLines&& other) noexcept;
  FieldLines& operator=(const FieldLines& other);
  FieldLines& operator=(FieldLines&& other) noexcept;
  ~FieldLines() = default;

  /// Appends a line.
  ///
  /// Ends with: std::invalid_argument for a name that is not a token, and for a value with CR, LF,
  /// NUL or
  ///            another control character.
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

  /// Every line, ready to be sent.
  [[nodiscard]] std::string_view wire() const noexcept SKUA_LIFETIMEBOUND {
    return {data(), size_};
  }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// Bit n is set when a line with the n-th http::FieldName is there.
  [[nodiscard]] std::uint64_t known() const noexcept { return known_; }

 private:
  friend struct http::FieldLinesAccess;

  /// Where a line's name and value are: behind the line before it. Kept in the memory of the lines,
  /// from its end on downwards, so that nobody has to look for them again.
  struct Line {
    std::uint32_t value_bytes;
    std::uint16_t name_bytes;
    std::uint8_t known;  // an http::FieldName
  };
  static constexpr std::size_t framing_bytes = 4;  // ": " and CRLF

  [[nodiscard]] const char* data() const noexcept { return heap_ ? heap_.get() : inline_; }
  [[nodiscard]] char* data() noexcept { return heap_ ? heap_.get() : inline_; }
  [[nodiscard]] Line line(std::size_t index) const noexcept;
  void set_line(std::size_t index, Line line) noexcept;
  [[nodiscard]] bool has_room(std::size_t more_bytes, std::size_t more_lines) const noexcept {
    return size_ + more_bytes + (count_ + more_lines) * sizeof(Line) <= capacity_;
  }
  std::unique_ptr<char[]> grow(std::size_t more_bytes, std::size_t more_lines);
  void put(std::uint8_t known, std::string_view name, std::string_view value);
  [[gnu::noinline]] void put_behind_growth(std::uint8_t known, std::string_view name,
                                           std::string_view value);
  void write(std::uint8_t known, std::string_view name, std::string_view value) noexcept;
  [[nodiscard]] bool has(std::uint8_t known, std::string_view name) const noexcept {
    return known != 0 ? (known_ >> known & 1U) != 0 : count_ != 0 && has_other(name);
  }
  [[nodiscard]] bool has_other(std::string_view name) const noexcept;
  void replace(std::uint8_t known, std::string_view name, std::string_view value);
  void remove(std::uint8_t known, std::string_view name) noexcept;

  std::unique_ptr<char[]> heap_;
  std::uint64_t known_ = 0;
  std::uint32_t size_ = 0;   // of the lines
  std::uint32_t count_ = 0;  // of the lines
  std::uint32_t capacity_ = inline_bytes;
  char inline_[inline_bytes];
};

}  // namespace skua
