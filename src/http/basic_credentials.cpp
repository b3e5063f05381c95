// SPDX-License-Identifier: MIT
// In: a field Authorization, or a name and a password. Out: the other.
#include "base/base64.hpp"
#include "http/challenge.hpp"
#include "skua/credentials.hpp"

namespace skua {
namespace {

constexpr Error malformed{Errc::MalformedChallenge, "Basic"};

// RFC 7617 §2: neither may contain control characters.
bool has_control(std::string_view text) noexcept {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return true;
  }
  return false;
}

}  // namespace

Result<BasicCredentials> BasicCredentials::parse(std::string_view field) {
  const auto encoded = http::after_scheme(field, "Basic");
  if (!encoded || encoded->size() > max_challenge_bytes) return malformed;
  const auto pair = base64::decode(*encoded);
  if (!pair || has_control(*pair)) return malformed;
  // RFC 7617 §2: the first colon; a password may have more of them.
  const std::size_t colon = pair->find(':');
  if (colon == pair->npos) return malformed;
  return BasicCredentials{pair->substr(0, colon), pair->substr(colon + 1)};
}

Result<std::string> BasicCredentials::field() const {
  if (user.find(':') != user.npos || has_control(user) || has_control(password)) return malformed;
  return "Basic " + base64::encode(user + ":" + password);
}

}  // namespace skua
