// SPDX-License-Identifier: MIT
// The other half of HTTP/2 tests is nghttp2; where it is missing, as on Windows and with musl, they
// do not run.
#include "support/http2_client.hpp"

#include <stdexcept>

namespace skua::testing {

std::unique_ptr<Http2Client> make_http2_client(bool /*is_secure*/) {
  throw std::logic_error("HTTP/2 tests need nghttp2");
}

}  // namespace skua::testing
