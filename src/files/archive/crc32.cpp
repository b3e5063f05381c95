// SPDX-License-Identifier: MIT
// In: text in pieces. Out: its CRC-32. Eight tables, so that eight bytes take one step: table k has
// the effect of a byte that k zero bytes follow.
#include "files/archive/crc32.hpp"

#include <array>
#include <bit>
#include <cstddef>

#include "base/byte_order.hpp"

namespace skua::files {
namespace {

constexpr std::uint32_t polynomial = 0xedb88320;
constexpr std::size_t slice_bytes = 8;

using CrcTable = std::array<std::uint32_t, 256>;

constexpr std::array<CrcTable, slice_bytes> make_crc_tables() {
  std::array<CrcTable, slice_bytes> tables{};
  for (std::uint32_t octet = 0; octet < 256; ++octet) {
    std::uint32_t crc = octet;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? polynomial : 0);
    tables[0][octet] = crc;
  }
  for (std::size_t k = 1; k < slice_bytes; ++k) {
    for (std::size_t octet = 0; octet < 256; ++octet) {
      const std::uint32_t crc = tables[k - 1][octet];
      tables[k][octet] = (crc >> 8U) ^ tables[0][crc & 0xffU];
    }
  }
  return tables;
}

constexpr std::array<CrcTable, slice_bytes> crc_tables = make_crc_tables();

constexpr std::uint32_t by_table(std::size_t k, std::uint32_t octet) noexcept {
  return crc_tables[k][octet & 0xffU];
}

}  // namespace

std::uint32_t crc32(std::uint32_t before, std::string_view text) noexcept {
  std::uint32_t crc = ~before;
  for (; text.size() >= slice_bytes; text.remove_prefix(slice_bytes)) {
    const auto low = byte_order::load<std::uint32_t, std::endian::little>(text.data()) ^ crc;
    const auto high = byte_order::load<std::uint32_t, std::endian::little>(text.data() + 4);
    crc = by_table(7, low) ^ by_table(6, low >> 8U) ^ by_table(5, low >> 16U) ^
          by_table(4, low >> 24U) ^ by_table(3, high) ^ by_table(2, high >> 8U) ^
          by_table(1, high >> 16U) ^ by_table(0, high >> 24U);
  }
  for (const char c : text) {
    crc = (crc >> 8U) ^ by_table(0, crc ^ static_cast<unsigned char>(c));
  }
  return ~crc;
}

}  // namespace skua::files
