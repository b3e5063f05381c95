// SPDX-License-Identifier: MIT
// In: the beginning of a request that was refused. Out: what it asked for, as far as that can be
// seen. Nothing acts on it: it is what a log tells.
#include "h1/request_line.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/ascii.hpp"
#include "http/message/start_line.hpp"

namespace skua::h1 {
namespace {

// Bytes above 0x7f belong to characters, or to what was meant as such.
bool is_visible(char c) noexcept { return static_cast<unsigned char>(c) > ' ' && c != '\x7f'; }

}  // namespace

http::Head read_request_line(std::string_view received) noexcept {
  http::Head head;
  const std::size_t begin = std::min(received.find_first_not_of("\r\n"), received.size());
  std::string_view line = received.substr(begin);
  line = line.substr(0, line.find_first_of("\r\n"));
  const std::size_t space = line.find(' ');
  const std::string_view method = line.substr(0, space);
  if (space == line.npos || method.size() > http::longest_method || !ascii::is_token_text(method)) {
    return head;
  }
  std::string_view target = line.substr(space + 1);
  std::size_t end = 0;  // hooks may write it to a terminal
  while (end < target.size() && is_visible(target[end])) ++end;
  target = target.substr(0, end);
  constexpr std::size_t most = std::numeric_limits<std::uint16_t>::max();
  const std::optional<Method> known = parse_method(method);
  head.base = received.data();
  head.method = known.value_or(Method::Other);
  head.method_bytes = static_cast<std::uint8_t>(method.size());
  head.target_begin = static_cast<std::uint32_t>(begin + space + 1);
  head.target_bytes = static_cast<std::uint16_t>(std::min(target.size(), most));
  return head;
}

}  // namespace skua::h1
