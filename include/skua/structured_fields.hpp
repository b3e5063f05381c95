// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "skua/config.hpp"

/// Structured field values: the common grammar of newer fields, such as Priority, Client Hints and
/// Accept-Query, for reading them and for fields of one's own.
///
/// ```cpp
/// const auto hints = skua::structured::parse_dictionary(request.header("Priority").value_or(""));
/// ```
/// RFC:       9651
namespace skua::structured {

/// A number with three places after the point, exactly: 1.5 is 1500 thousandths. Its whole part has
/// at most 12 digits.
struct Decimal {
  std::int64_t thousandths = 0;
  friend bool operator==(const Decimal&, const Decimal&) = default;
};

/// A word without quotes, such as `gzip` or `text/html`.
struct Token {
  std::string text{};
  friend bool operator==(const Token&, const Token&) = default;
};

/// A time, in seconds since 1970.
struct Date {
  std::int64_t seconds = 0;
  friend bool operator==(const Date&, const Date&) = default;
};

/// A text for people, in UTF-8.
struct DisplayString {
  std::string text{};
  friend bool operator==(const DisplayString&, const DisplayString&) = default;
};

/// A bare item. An integer has at most 15 digits, and a string is printable ASCII.
using Value = std::variant<std::int64_t, Decimal, std::string, Token, std::vector<std::byte>, bool,
                           Date, DisplayString>;

/// A key with its value, which is true if there is none: `;q=1`, `;secure`.
struct Parameter {
  std::string key{};
  Value value = true;
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

/// A value with its parameters.
struct Item {
  Value value{};
  std::vector<Parameter> parameters{};
  friend bool operator==(const Item&, const Item&) = default;
};

/// Items in parentheses, with parameters of their own.
struct InnerList {
  std::vector<Item> items{};
  std::vector<Parameter> parameters{};
  friend bool operator==(const InnerList&, const InnerList&) = default;
};

/// A member of a list or a dictionary.
using Member = std::variant<Item, InnerList>;

/// Members in their order.
using List = std::vector<Member>;

/// A member of a dictionary, whose keys differ.
struct NamedMember {
  std::string key{};
  Member member{};
  friend bool operator==(const NamedMember&, const NamedMember&) = default;
};

/// Members with keys, in their order.
using Dictionary = std::vector<NamedMember>;

/// Parses the value of a field. Several lines of a list or a dictionary are joined by commas
/// first; an empty value is an empty one. The value of a key that comes twice is the last one.
///
/// Returns nullopt if it is malformed; then the RFC tells to ignore the whole field.
/// RFC:       9651 §4.2
[[nodiscard]] SKUA_API std::optional<Item> parse_item(std::string_view value);
[[nodiscard]] SKUA_API std::optional<List> parse_list(std::string_view value);
[[nodiscard]] SKUA_API std::optional<Dictionary> parse_dictionary(std::string_view value);

/// Returns the value of a field; empty for an empty list or dictionary, which is not sent.
///
/// Returns nullopt if a part cannot be written: a key, a token or a string with other characters
/// than its kind allows, a text that is not UTF-8, or a number that is too long.
/// RFC:       9651 §4.1
[[nodiscard]] SKUA_API std::optional<std::string> to_text(const Item& item);
[[nodiscard]] SKUA_API std::optional<std::string> to_text(const List& list);
[[nodiscard]] SKUA_API std::optional<std::string> to_text(const Dictionary& dictionary);

}  // namespace skua::structured
