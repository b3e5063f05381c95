// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>

#include "skua/config.hpp"

namespace skua {

/// Field lines as they go on the wire, `Name: value\r\n` each, in one piece of memory that starts
/// inline.
class FieldLines final {
 public:
  static constexpr std::size_t inline_bytes = 120;

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
  [[nodiscard]] const char* data() const noexcept { return heap_ ? heap_.get() : inline_; }
  [[nodiscard]] char* data() noexcept { return heap_ ? heap_.get() : inline_; }
  [[nodiscard]] std::unique_ptr<char[]> grow(std::size_t more_bytes);
  void append_wire(std::initializer_list<std::string_view> texts);

  std::unique_ptr<char[]> heap_;
  std::uint64_t known_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = inline_bytes;
  char inline_[inline_bytes];
};

}  // namespace skua
