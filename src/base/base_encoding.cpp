// SPDX-License-Identifier: MIT
// In: bytes, or base64 text. Out: the other.
// Every value has one encoding: a decoder that accepts several lets one token pass for two.
#include "base/base_encoding.hpp"

#include <array>

namespace skua::base64 {
namespace {

constexpr std::string_view standard_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view url_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::uint8_t no_digit = 0xff;

constexpr std::array<std::uint8_t, 256> make_values(std::string_view digits) {
  std::array<std::uint8_t, 256> values{};
  values.fill(no_digit);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    values[static_cast<unsigned char>(digits[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}

constexpr auto standard_values = make_values(standard_digits);
constexpr auto url_values = make_values(url_digits);

constexpr unsigned byte_at(std::string_view bytes, std::size_t index) noexcept {
  return index < bytes.size() ? static_cast<unsigned char>(bytes[index]) : 0U;
}

// Returns the digits without padding, or nullopt if the length is not a multiple of four.
std::optional<std::string_view> without_padding(std::string_view text) noexcept {
  if (text.size() % 4 != 0) return std::nullopt;
  if (text.ends_with("==")) return text.substr(0, text.size() - 2);
  if (text.ends_with('=')) return text.substr(0, text.size() - 1);
  return text;
}

}  // namespace

std::string encode(std::string_view bytes, Alphabet alphabet) {
  const std::string_view digits = alphabet == Alphabet::Standard ? standard_digits : url_digits;
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const unsigned group =
        byte_at(bytes, at) << 16U | byte_at(bytes, at + 1) << 8U | byte_at(bytes, at + 2);
    for (unsigned i = 0; i < 4; ++i) text += digits[group >> (18U - 6U * i) & 63U];
  }
  const std::size_t surplus = (3 - bytes.size() % 3) % 3;
  text.resize(text.size() - surplus);
  if (alphabet == Alphabet::Standard) text.append(surplus, '=');
  return text;
}

std::optional<std::string> decode(std::string_view text, Alphabet alphabet) {
  if (alphabet == Alphabet::Standard) {
    const auto digits = without_padding(text);
    if (!digits) return std::nullopt;
    text = *digits;
  }
  if (text.size() % 4 == 1) return std::nullopt;
  const auto& values = alphabet == Alphabet::Standard ? standard_values : url_values;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  unsigned pending = 0;
  unsigned pending_bits = 0;
  for (const char c : text) {
    const std::uint8_t value = values[static_cast<unsigned char>(c)];
    if (value == no_digit) return std::nullopt;
    pending = (pending << 6U | value) & 0xfffU;
    pending_bits += 6;
    if (pending_bits < 8) continue;
    pending_bits -= 8;
    bytes += static_cast<char>(pending >> pending_bits & 0xffU);
  }
  if ((pending & ((1U << pending_bits) - 1U)) != 0) return std::nullopt;
  return bytes;
}

}  // namespace skua::base64
