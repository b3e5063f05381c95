// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace skua {

/// The version of HTTP that a message was sent in.
enum class Version : std::uint8_t { Http10, Http11, Http2 };

}  // namespace skua
