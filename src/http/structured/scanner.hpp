// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace skua::http {

/// A bare item as views of the field's value, which were checked but not decoded. RFC 9651 §3.3
struct BareItem {
  enum class Type : std::uint8_t {
    Integer,  ///< `number`
    Decimal,  ///< `number`, in thousandths
    String,   ///< `text`, between its quotes, with its backslashes
    Token,    ///< `text`
    Bytes,    ///< `text`, in base64
    Boolean,  ///< `number` is 0 or 1
    Date,     ///< `number`, in seconds since 1970
    Display,  ///< `text`, between its quotes, with its percent signs
  };

  Type type = Type::Boolean;
  std::int64_t number = 0;
  std::string_view text{};
};

/// The value of a key that has none: true.
inline constexpr BareItem no_value{.number = 1};

/// Told of the parts of a structured field, in order. Each function may be left as it is.
struct StructuredVisitor {
  void on_key(std::string_view) {}  ///< a member of a dictionary: its item or list follows
  void on_item(const BareItem&) {}  ///< of the field, or of an inner list
  void on_list_begin() {}           ///< of an inner list
  void on_list_end() {}             ///< its parameters follow
  void on_parameter(std::string_view, const BareItem&) {}  ///< of the last item or inner list
};

/// Reads the parts of structured fields from the front of a text. Allocates nothing.
///
/// RFC:       9651 §4.2
class StructuredScanner {
 public:
  explicit StructuredScanner(std::string_view text) noexcept : rest_(text) {}

  [[nodiscard]] bool is_at_end() const noexcept { return rest_.empty(); }
  [[nodiscard]] bool is_at(char c) const noexcept { return rest_.starts_with(c); }
  /// Removes a character, if it is next.
  bool take(char c) noexcept {
    if (!is_at(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void skip_spaces() noexcept { skip(' '); }
  void skip_white_space() noexcept { skip('\t'); }

  /// Each of these returns false if the text does not begin with what it reads.
  bool read_key(std::string_view& key) noexcept;
  bool read_bare_item(BareItem& item) noexcept;

 private:
  void skip(char other) noexcept;  // and spaces
  bool read_number(BareItem& item) noexcept;
  bool read_string(BareItem& item) noexcept;
  bool read_token(BareItem& item) noexcept;
  bool read_bytes(BareItem& item) noexcept;
  bool read_display(BareItem& item) noexcept;

  std::string_view rest_;
};

/// Scans the value of a field with a visitor. Returns false if it is malformed: then the whole
/// field is to be ignored, whatever the visitor was told.
///
/// RFC:       9651 §4.2.1-4.2.3
template <class Visitor>
class StructuredField {
 public:
  StructuredField(std::string_view value, Visitor& visitor) noexcept
      : scanner_(value), visitor_(visitor) {}

  bool scan_item() {
    scanner_.skip_spaces();
    return take_item() && is_over();
  }
  bool scan_list() {
    scanner_.skip_spaces();
    while (!scanner_.is_at_end()) {
      if (!take_member() || !take_comma()) return false;
    }
    return true;
  }
  bool scan_dictionary() {
    scanner_.skip_spaces();
    while (!scanner_.is_at_end()) {
      std::string_view key;
      if (!scanner_.read_key(key)) return false;
      visitor_.on_key(key);
      if (scanner_.take('=')) {
        if (!take_member()) return false;
      } else {
        visitor_.on_item(no_value);
        if (!take_parameters()) return false;
      }
      if (!take_comma()) return false;
    }
    return true;
  }

 private:
  bool is_over() noexcept {
    scanner_.skip_spaces();
    return scanner_.is_at_end();
  }
  // After a member: the end, or a comma that is followed by something.
  bool take_comma() noexcept {
    scanner_.skip_white_space();
    if (scanner_.is_at_end()) return true;
    if (!scanner_.take(',')) return false;
    scanner_.skip_white_space();
    return !scanner_.is_at_end();
  }
  bool take_member() { return scanner_.take('(') ? take_inner_list() : take_item(); }
  bool take_item() {
    BareItem item;
    if (!scanner_.read_bare_item(item)) return false;
    visitor_.on_item(item);
    return take_parameters();
  }
  bool take_inner_list() {
    visitor_.on_list_begin();
    while (true) {
      scanner_.skip_spaces();
      if (scanner_.take(')')) break;
      if (!take_item()) return false;
      if (!scanner_.is_at(' ') && !scanner_.is_at(')')) return false;
    }
    visitor_.on_list_end();
    return take_parameters();
  }
  bool take_parameters() {
    while (scanner_.take(';')) {
      scanner_.skip_spaces();
      std::string_view key;
      BareItem value = no_value;
      if (!scanner_.read_key(key)) return false;
      if (scanner_.take('=') && !scanner_.read_bare_item(value)) return false;
      visitor_.on_parameter(key, value);
    }
    return true;
  }

  StructuredScanner scanner_;
  Visitor& visitor_;
};

}  // namespace skua::http
