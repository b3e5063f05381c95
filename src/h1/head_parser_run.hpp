// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/ascii.hpp"
#include "h1/head_parser.hpp"
#include "http/message/field_lookup.hpp"
#include "http/message/start_line.hpp"
#include "skua/method.hpp"

/// One parser per instruction set. The caller cuts `received` to the limit of the head.
namespace skua::h1 {
namespace portable {
ParseStatus run(HeadParse& parse, std::string_view received) noexcept;
}
namespace sse42 {
ParseStatus run(HeadParse& parse, std::string_view received) noexcept;
}
namespace avx2 {
ParseStatus run(HeadParse& parse, std::string_view received) noexcept;
}
namespace neon {
ParseStatus run(HeadParse& parse, std::string_view received) noexcept;
}
}  // namespace skua::h1
