// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "skua/error.hpp"

namespace skua::tls {

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
