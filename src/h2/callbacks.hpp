// SPDX-License-Identifier: MIT
#pragma once

#include <nghttp2/nghttp2.h>

namespace skua::h2 {

/// The functions that nghttp2 calls, for a ServerSession as its user data. Internal.
struct Callbacks {
  /// All of them, made once. Null where memory ran out.
  static const nghttp2_session_callbacks* all() noexcept;
  /// What asks a session for a response's content.
  static nghttp2_data_provider provider() noexcept;
};

}  // namespace skua::h2
