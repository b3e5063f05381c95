// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "h2/hpack_field.hpp"
#include "h2/hpack_rules.hpp"

/// The static table. RFC 7541 appendix A
namespace skua::h2::static_table {

inline constexpr std::uint32_t count = 61;

struct Line {
  std::string_view name;
  std::string_view value{};
};

/// In index order; the first has index 1.
inline constexpr std::array<Line, count> lines = {{{":authority"},
                                                   {":method", "GET"},
                                                   {":method", "POST"},
                                                   {":path", "/"},
                                                   {":path", "/index.html"},
                                                   {":scheme", "http"},
                                                   {":scheme", "https"},
                                                   {":status", "200"},
                                                   {":status", "204"},
                                                   {":status", "206"},
                                                   {":status", "304"},
                                                   {":status", "400"},
                                                   {":status", "404"},
                                                   {":status", "500"},
                                                   {"accept-charset"},
                                                   {"accept-encoding", "gzip, deflate"},
                                                   {"accept-language"},
                                                   {"accept-ranges"},
                                                   {"accept"},
                                                   {"access-control-allow-origin"},
                                                   {"age"},
                                                   {"allow"},
                                                   {"authorization"},
                                                   {"cache-control"},
                                                   {"content-disposition"},
                                                   {"content-encoding"},
                                                   {"content-language"},
                                                   {"content-length"},
                                                   {"content-location"},
                                                   {"content-range"},
                                                   {"content-type"},
                                                   {"cookie"},
                                                   {"date"},
                                                   {"etag"},
                                                   {"expect"},
                                                   {"expires"},
                                                   {"from"},
                                                   {"host"},
                                                   {"if-match"},
                                                   {"if-modified-since"},
                                                   {"if-none-match"},
                                                   {"if-range"},
                                                   {"if-unmodified-since"},
                                                   {"last-modified"},
                                                   {"link"},
                                                   {"location"},
                                                   {"max-forwards"},
                                                   {"proxy-authenticate"},
                                                   {"proxy-authorization"},
                                                   {"range"},
                                                   {"referer"},
                                                   {"refresh"},
                                                   {"retry-after"},
                                                   {"server"},
                                                   {"set-cookie"},
                                                   {"strict-transport-security"},
                                                   {"transfer-encoding"},
                                                   {"user-agent"},
                                                   {"vary"},
                                                   {"via"},
                                                   {"www-authenticate"}}};

/// The decoded form of each entry, by index; index 0 is unused.
inline constexpr std::array<DecodedField, count + 1> fields = [] {
  std::array<DecodedField, count + 1> made{};
  for (std::size_t i = 0; i < count; ++i) {
    const rules::Name name = rules::look_at(lines[i].name);
    made[i + 1] = {.name = lines[i].name,
                   .value = lines[i].value,
                   .known = name.known,
                   .pseudo = name.pseudo,
                   .is_malformed = name.is_malformed || !rules::is_value(name, lines[i].value)};
  }
  return made;
}();

static_assert(fields[count].name == "www-authenticate" && fields[1].is_malformed);

}  // namespace skua::h2::static_table
