// SPDX-License-Identifier: MIT
// Parses and formats an Authorization field with a user and a password.
#include "base/ascii.hpp"
#include "base/base64.hpp"
#include "http/challenge.hpp"
#include "skua/credentials.hpp"

namespace skua {
namespace {

constexpr Error malformed_basic{Errc::MalformedChallenge, "Basic"};

}  // namespace

Result<BasicCredentials> BasicCredentials::parse(std::string_view field) {
  const auto encoded = http::after_scheme(field, "Basic");
  if (!encoded || encoded->size() > max_challenge_bytes) return malformed_basic;
  const auto pair = base64::decode(*encoded);
  if (!pair || ascii::has_control(*pair)) return malformed_basic;
  // RFC 7617 §2: the first colon separates; the password may contain more.
  const std::size_t colon = pair->find(':');
  if (colon == pair->npos) return malformed_basic;
  return BasicCredentials{pair->substr(0, colon), pair->substr(colon + 1)};
}

Result<std::string> BasicCredentials::field() const {
  // RFC 7617 §2: no colon in the user, and no control characters at all.
  if (user.find(':') != user.npos || ascii::has_control(user) || ascii::has_control(password))
    return malformed_basic;
  return "Basic " + base64::encode(user + ":" + password);
}

}  // namespace skua
