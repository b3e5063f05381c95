// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace skua::testing {

/// The protocol that carries the requests and responses of a test.
enum class Transport : std::uint8_t {
  Tcp,    ///< HTTP/1 in clear text
  Tls,    ///< HTTP/1 over TLS
  H2,     ///< HTTP/2 in clear text, by prior knowledge
  H2Tls,  ///< HTTP/2 over TLS, by ALPN
};

/// Returns the transport of this run, from the environment variable SKUA_TEST_TRANSPORT: `tcp` (the
/// default), `tls`, `h2` or `h2-tls`. Tests of features that only HTTP/1 has begin with
/// `if (testing::speaks_http2()) GTEST_SKIP() << "HTTP/1 only: ..."`.
Transport transport();

constexpr bool is_secure(Transport transport) noexcept {
  return transport == Transport::Tls || transport == Transport::H2Tls;
}
constexpr bool speaks_http2(Transport transport) noexcept {
  return transport == Transport::H2 || transport == Transport::H2Tls;
}
inline bool is_secure() { return is_secure(transport()); }
inline bool speaks_http2() { return speaks_http2(transport()); }

/// The ALPN protocols that a client of this transport offers.
inline std::vector<std::string> protocols(Transport transport) {
  return {speaks_http2(transport) ? "h2" : "http/1.1"};
}

}  // namespace skua::testing
