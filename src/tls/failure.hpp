// SPDX-License-Identifier: MIT
/// Translates OpenSSL's failures; include only in builds with OpenSSL.
#pragma once

#include <string>
#include <string_view>

#include "skua/error.hpp"

namespace skua::tls {

/// Converts a code from OpenSSL's error queue. `verify_code` is the result of verifying the peer's
/// certificate.
[[nodiscard]] Error failure_of(unsigned long code, long verify_code, bool is_established) noexcept;

/// A rejected certificate.
struct RejectedCertificate {
  int code = 0;  ///< X509_V_ERR_...
  int depth = 0;
  std::string_view subject{};
  std::string_view issuer{};
  std::string_view host{};   ///< the expected host; empty for a client's certificate
  std::string_view store{};  ///< the location of the trust store
};

/// Explains in a sentence or two why it was rejected and how to fix it.
[[nodiscard]] std::string rejection_text(const RejectedCertificate& rejected);

/// Returns a TlsConfiguration problem: settings, certificates or keys that cannot be used.
inline Problem unusable(std::string text) {
  return {Error(Errc::TlsConfiguration, "TLS"), std::move(text)};
}

/// Returns the problem that every function of this folder reports in a build without OpenSSL.
inline Problem no_openssl() {
  return {Error(Errc::Unsupported, "TLS"),
          "this build of skua has no TLS: install OpenSSL 3 with its headers (Debian, Ubuntu: "
          "libssl-dev; Fedora: openssl-devel) and build skua again"};
}

}  // namespace skua::tls
