// SPDX-License-Identifier: MIT
#pragma once

#include <nghttp2/nghttp2.h>

namespace skua::h2 {

/// The functions that nghttp2 calls, with an Engine as user data. Internal.
struct Callbacks {
  /// All of them, made once. Ends with: std::bad_alloc.
  static const nghttp2_session_callbacks* all();
  /// What asks a session for the content that it sends.
  static nghttp2_data_provider provider() noexcept;
};

}  // namespace skua::h2
