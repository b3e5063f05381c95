// SPDX-License-Identifier: MIT
// In: a field with challenges or credentials. Checked: bounds hold; parsed values survive writing
// and parsing again; a session answers every challenge with credentials that a server can parse.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/base_encoding.hpp"
#include "http/auth/challenge.hpp"
#include "skua/credentials.hpp"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void parameters(const skua::Challenge& challenge) {
  check(challenge.parameters.size() <= skua::max_challenge_parameters);
  check(challenge.token.empty() || challenge.parameters.empty());
  std::string written = challenge.scheme + " ";
  for (const auto& [name, value] : challenge.parameters) {
    check(!name.empty());
    skua::http::append_quoted(written, name, value);
  }
  written.append(challenge.token);
  // Quotes double in size when escaped, so the whole may be too long now.
  if (written.size() > skua::max_challenge_bytes) return;
  const auto again = skua::parse_credentials(written);
  check(again && again->scheme == challenge.scheme && again->token == challenge.token);
  check(again->parameters.size() == challenge.parameters.size());
  for (const auto& [name, value] : challenge.parameters) check(*again->find(name) == value);
}

void digest(const skua::Challenge& challenge) {
  if (const auto asked = skua::DigestChallenge::from(challenge)) {
    const std::string field = asked->field();
    if (field.size() > skua::max_challenge_bytes) return;
    const auto again = skua::DigestChallenge::from(skua::parse_credentials(field).value());
    check(again && again->field() == field);
    skua::DigestSession session("user", "password");
    const std::array<std::string_view, 1> fields = {field};
    if (!session.accept(fields)) return;  // built without OpenSSL
    const std::string answer = session.authorize("GET", "/").value();
    if (answer.size() > skua::max_challenge_bytes) return;
    const auto parsed = skua::parse_credentials(answer);
    check(parsed && skua::DigestCredentials::from(*parsed));
  }
  if (const auto answered = skua::DigestCredentials::from(challenge)) {
    const std::string field = answered->field();
    if (field.size() > skua::max_challenge_bytes) return;
    const auto again = skua::parse_credentials(field);
    check(again && skua::DigestCredentials::from(*again).value().user == answered->user);
    static_cast<void>(answered->compute("secret", "GET", "body"));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<char> exact(data, data + size);
  const std::string_view field(exact.data(), exact.size());
  if (const auto challenges = skua::parse_challenges(field)) {
    check(!challenges->empty() && challenges->size() <= skua::max_challenges);
    for (const skua::Challenge& challenge : *challenges) {
      parameters(challenge);
      digest(challenge);
    }
  }
  static_cast<void>(skua::http::parse_auth_parameters(field));
  if (const auto basic = skua::BasicCredentials::parse(field)) {
    const auto again = skua::BasicCredentials::parse(basic->field().value());
    check(again && again->user == basic->user && again->password == basic->password);
  }
  using skua::base64::Alphabet;
  for (const auto alphabet : {Alphabet::Standard, Alphabet::Url}) {
    check(skua::base64::decode(skua::base64::encode(field, alphabet), alphabet) == field);
    if (const auto bytes = skua::base64::decode(field, alphabet)) {
      check(skua::base64::encode(*bytes, alphabet) == field);
    }
  }
  return 0;
}
