// SPDX-License-Identifier: MIT
/// OpenSSL's failures in our words; included only where OpenSSL is there.
#pragma once

#include <string>
#include <string_view>

#include "skua/error.hpp"

namespace skua::tls {

/// What a code of OpenSSL's error queue means. `verify_code` is the result of verifying the peer's
/// certificate.
[[nodiscard]] Error failure_of(unsigned long code, long verify_code, bool is_established) noexcept;

/// A certificate that was not accepted.
struct RejectedCertificate {
  int code = 0;  ///< X509_V_ERR_...
  int depth = 0;
  std::string_view subject{};
  std::string_view issuer{};
  std::string_view host{};   ///< whom it should be for; empty: a client's certificate
  std::string_view store{};  ///< where the trusted authorities are
};

/// Why, in a sentence or two, and what helps.
[[nodiscard]] std::string rejection_text(const RejectedCertificate& rejected);

}  // namespace skua::tls
