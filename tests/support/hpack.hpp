// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.hpp"
#include "h2/hpack_decoder.hpp"

/// Helpers to write and read HPACK field blocks in tests.
namespace skua::h2::hpack {

using Fields = std::vector<std::pair<std::string, std::string>>;

/// Decodes hexadecimal digits; white space is ignored.
inline std::string bytes(std::string_view digits) {
  std::string out;
  unsigned value = 0;
  bool is_second = false;
  for (const char c : digits) {
    if (!ascii::is_hex(c)) continue;
    value = value * 16 + ascii::hex_value(c);
    if (is_second) out += static_cast<char>(std::exchange(value, 0U));
    is_second = !is_second;
  }
  return out;
}

/// Decodes a block fed in pieces of these sizes, of which the last repeats; nullopt if the block is
/// malformed.
inline std::optional<Fields> decode(HpackDecoder& decoder, std::string_view block,
                                    const std::vector<std::size_t>& pieces = {}) {
  Fields fields;
  std::string received;
  std::size_t given = 0;
  std::size_t piece = 0;
  decoder.start();
  for (bool is_last = false; !is_last;) {
    const std::size_t size =
        pieces.empty() ? block.size() : pieces[std::min(piece++, pieces.size() - 1)];
    const std::string_view more = block.substr(given, size);
    given += more.size();
    is_last = given == block.size();
    received.append(more);
    const std::string copy = received;  // a new buffer, so that stale views are found
    std::size_t taken = 0;
    const auto result = decoder.decode(copy, is_last, taken, [&](const DecodedField& field) {
      fields.emplace_back(field.name, field.value);
      return true;
    });
    if (result != HpackDecoder::Result::Fine) return std::nullopt;
    received.erase(0, taken);
  }
  return fields;
}

/// Returns the entries of the dynamic table, newest first.
inline Fields entries(const HpackTable& table) {
  Fields fields;
  for (std::uint32_t age = 0; age < table.count(); ++age) {
    const HpackTable::Entry& entry = table.entry(age);
    fields.emplace_back(table.name(entry), table.value(entry));
  }
  return fields;
}

}  // namespace skua::h2::hpack
