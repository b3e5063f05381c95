// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "skua/router.hpp"

namespace skua {

/// What the plain listener beside a TLS server serves: every request is told to come again over
/// TLS (308: with the same method and content), at the same host on `port`.
///
/// The path and the query stay byte for byte. The host is the one that the client asked for,
/// without its port; one that is missing or is none is answered with 400. Routes that are added are
/// served in plain text, as those under `/.well-known/acme-challenge` have to be. Behind a proxy
/// that speaks TLS itself, every request is a plain one: not for there.
///
/// RFC:       9110 §15.4.9
[[nodiscard]] Router redirect_to_https(std::uint16_t port = 443);

}  // namespace skua
