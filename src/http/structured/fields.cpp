// SPDX-License-Identifier: MIT
// In: the value of a structured field, or its parts. Out: the other one. The scanner checks all but
// UTF-8; what is written is scanned again, so that nothing malformed leaves.
#include "skua/structured_fields.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/ascii.hpp"
#include "base/base_encoding.hpp"
#include "http/structured/scanner.hpp"

namespace skua::structured {
namespace {

using http::BareItem;

// Reading
// ------------------------------------------------------------------------------------------

std::string unescaped(std::string_view text) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') ++i;
    made.push_back(text[i]);
  }
  return made;
}

std::string decoded(std::string_view text) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      made.push_back(text[i]);
      continue;
    }
    made.push_back(
        static_cast<char>(ascii::hex_value(text[i + 1]) << 4U | ascii::hex_value(text[i + 2])));
    i += 2;
  }
  return made;
}

// RFC 4648 §4, without the checks of padding and unused bits. RFC 9651 §4.2.7
std::vector<std::byte> decoded_base64(std::string_view text) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::byte> made;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    bits = bits << 6U | static_cast<std::uint32_t>(digits.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    made.push_back(static_cast<std::byte>(bits >> count & 0xFFU));
  }
  return made;
}

// RFC 3629 §4
bool is_utf8(std::string_view text) noexcept {
  const auto at = [text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned first = at(i);
    const unsigned second = at(i + 1);
    const std::size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (size > 1) {
      const unsigned lowest = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
      const unsigned highest = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
      if (first < 0xC2 || first > 0xF4 || second < lowest || second > highest) return false;
    }
    for (std::size_t k = 2; k < size; ++k) {
      if ((at(i + k) & 0xC0U) != 0x80) return false;
    }
    i += size;
  }
  return true;
}

Value value_of(const BareItem& item) {
  switch (item.type) {
    case BareItem::Type::Integer: return item.number;
    case BareItem::Type::Decimal: return Decimal{item.number};
    case BareItem::Type::String: return unescaped(item.text);
    case BareItem::Type::Token: return Token{std::string(item.text)};
    case BareItem::Type::Bytes: return decoded_base64(item.text);
    case BareItem::Type::Date: return Date{item.number};
    case BareItem::Type::Display: return DisplayString{decoded(item.text)};
    case BareItem::Type::Boolean: break;
  }
  return item.number != 0;
}

/// Makes members of what is scanned.
class Members : public http::StructuredVisitor {
 public:
  void on_key(std::string_view key) {
    const auto known = std::ranges::find(all, key, &NamedMember::key);
    place_ = static_cast<std::size_t>(known - all.begin());
    if (known == all.end()) all.push_back({.key = std::string(key)});
    has_key_ = true;
  }
  void on_item(const BareItem& item) {
    if (item.type == BareItem::Type::Display && !is_utf8(decoded(item.text))) is_wrong = true;
    if (is_inside_) {
      std::vector<Item>& items = std::get<InnerList>(current()).items;
      items.push_back({.value = value_of(item)});
      parameters_ = Place::LastItem;
    } else {
      next() = Item{.value = value_of(item)};
      parameters_ = Place::Item;
    }
  }
  void on_list_begin() {
    next() = InnerList();
    is_inside_ = true;
  }
  void on_list_end() {
    is_inside_ = false;
    parameters_ = Place::InnerList;
  }
  void on_parameter(std::string_view key, const BareItem& item) {
    if (item.type == BareItem::Type::Display && !is_utf8(decoded(item.text))) is_wrong = true;
    std::vector<Parameter>& parameters = current_parameters();
    const auto known = std::ranges::find(parameters, key, &Parameter::key);
    if (known != parameters.end()) {
      known->value = value_of(item);
    } else {
      parameters.push_back({.key = std::string(key), .value = value_of(item)});
    }
  }

  Dictionary all{};       // without keys: a list
  bool is_wrong = false;  // in a way that the scanner does not see

 private:
  enum class Place : std::uint8_t { Item, InnerList, LastItem };

  Member& current() { return all[place_].member; }
  Member& next() {
    if (!has_key_) {
      place_ = all.size();
      all.emplace_back();
    }
    return current();
  }
  std::vector<Parameter>& current_parameters() {
    if (parameters_ == Place::Item) return std::get<Item>(current()).parameters;
    InnerList& list = std::get<InnerList>(current());
    return parameters_ == Place::InnerList ? list.parameters : list.items.back().parameters;
  }

  std::size_t place_ = 0;
  bool has_key_ = false;
  bool is_inside_ = false;
  Place parameters_ = Place::Item;
};

// Writing
// ------------------------------------------------------------------------------------------

struct Writer {
  std::string out{};
  bool is_wrong = false;

  void operator()(std::int64_t number) {
    if (number > 999'999'999'999'999 || number < -999'999'999'999'999) is_wrong = true;
    out.append(std::to_string(number));
  }
  void operator()(Decimal number) {
    const bool is_negative = number.thousandths < 0;
    const std::uint64_t size = is_negative ? 0 - static_cast<std::uint64_t>(number.thousandths)
                                           : static_cast<std::uint64_t>(number.thousandths);
    if (size > 999'999'999'999'999) is_wrong = true;
    std::string places = std::to_string(1000 + size % 1000).substr(1);
    while (places.size() > 1 && places.back() == '0') places.pop_back();
    out.append(is_negative ? "-" : "").append(std::to_string(size / 1000)).append(".");
    out.append(places);
  }
  void operator()(const std::string& text) {
    out.push_back('"');
    for (const char c : text) {
      if (c < ' ' || c > '~') is_wrong = true;
      if (c == '"' || c == '\\') out.push_back('\\');
      out.push_back(c);
    }
    out.push_back('"');
  }
  void operator()(const Token& token) {
    const auto is_inside = [](char c) { return ascii::is_token(c) || c == ':' || c == '/'; };
    const bool begins_well =
        !token.text.empty() && (ascii::is_alpha(token.text[0]) || token.text[0] == '*');
    if (!begins_well || !std::ranges::all_of(token.text, is_inside)) is_wrong = true;
    out.append(token.text);
  }
  void operator()(const std::vector<std::byte>& bytes) {
    std::string text(bytes.size(), '\0');
    if (!bytes.empty()) std::memcpy(text.data(), bytes.data(), bytes.size());
    out.append(":").append(base64::encode(text)).append(":");
  }
  void operator()(bool flag) { out.append(flag ? "?1" : "?0"); }
  void operator()(Date date) {
    out.push_back('@');
    (*this)(date.seconds);
  }
  void operator()(const DisplayString& display) {
    if (!is_utf8(display.text)) is_wrong = true;
    out.append("%\"");
    for (const char c : display.text) {
      if (c < ' ' || c > '~' || c == '%' || c == '"') {
        out.append("%").append(hex::encode({&c, 1}));
      } else {
        out.push_back(c);
      }
    }
    out.push_back('"');
  }

  void key(const std::string& text) {
    std::string_view read;
    http::StructuredScanner scanner(text);
    if (!scanner.read_key(read) || !scanner.is_at_end()) is_wrong = true;
    out.append(text);
  }
  void parameters(const std::vector<Parameter>& all) {
    for (const Parameter& one : all) {
      out.push_back(';');
      key(one.key);
      if (one.value == Value(true)) continue;
      out.push_back('=');
      std::visit(*this, one.value);
    }
  }
  void member(const Item& item) {
    std::visit(*this, item.value);
    parameters(item.parameters);
  }
  void member(const InnerList& list) {
    out.push_back('(');
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      if (i != 0) out.push_back(' ');
      member(list.items[i]);
    }
    out.push_back(')');
    parameters(list.parameters);
  }
  void member(const Member& one) {
    std::visit([this](const auto& part) { member(part); }, one);
  }
  [[nodiscard]] std::optional<std::string> take() {
    if (is_wrong) return std::nullopt;
    return std::move(out);
  }
};

}  // namespace

std::optional<Item> parse_item(std::string_view value) {
  Members read;
  if (!http::StructuredField(value, read).scan_item() || read.is_wrong) return std::nullopt;
  return std::get<Item>(std::move(read.all.front().member));
}

std::optional<List> parse_list(std::string_view value) {
  Members read;
  if (!http::StructuredField(value, read).scan_list() || read.is_wrong) return std::nullopt;
  List list;
  for (NamedMember& one : read.all) list.push_back(std::move(one.member));
  return list;
}

std::optional<Dictionary> parse_dictionary(std::string_view value) {
  Members read;
  if (!http::StructuredField(value, read).scan_dictionary() || read.is_wrong) return std::nullopt;
  return std::move(read.all);
}

std::optional<std::string> to_text(const Item& item) {
  Writer writer;
  writer.member(item);
  return writer.take();
}

std::optional<std::string> to_text(const List& list) {
  Writer writer;
  for (const Member& one : list) {
    if (!writer.out.empty()) writer.out.append(", ");
    writer.member(one);
  }
  return writer.take();
}

std::optional<std::string> to_text(const Dictionary& dictionary) {
  Writer writer;
  for (const NamedMember& one : dictionary) {
    if (!writer.out.empty()) writer.out.append(", ");
    writer.key(one.key);
    const Item* const item = std::get_if<Item>(&one.member);
    if (item != nullptr && item->value == Value(true)) {
      writer.parameters(item->parameters);
      continue;
    }
    writer.out.push_back('=');
    writer.member(one.member);
  }
  return writer.take();
}

}  // namespace skua::structured
