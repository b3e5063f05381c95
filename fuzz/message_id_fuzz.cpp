// SPDX-License-Identifier: MIT
// An id that is accepted is written as it was read, but for leading zeros and a missing sequence.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "topics/message_id.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto id = skua::topics::parse_message_id(text);
  if (!id) return 0;
  if (skua::topics::parse_message_id(id->to_string()) != id) std::abort();
  if (text.find_first_not_of("0123456789-") != text.npos) std::abort();
  return 0;
}
