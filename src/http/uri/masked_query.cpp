// SPDX-License-Identifier: MIT
// In: `/path?a=1&token=secret`. Out: `/path?a=1&token=***`. A text without such names is not
// copied.
#include "http/uri/masked_query.hpp"

#include <algorithm>

#include "base/ascii.hpp"
#include "base/percent.hpp"

namespace skua::http {
namespace {

// Reports whether a name, as sent, is one of these once it is decoded.
template <class Names>
bool is_named(std::string_view sent, const Names& names) {
  std::string decoded;
  for (std::size_t at = 0; at < sent.size(); ++at) {
    const std::string_view rest = sent.substr(at);
    const bool is_triplet = percent::has_triplet(rest);
    decoded += is_triplet ? percent::triplet_octet(rest) : rest.front();
    if (is_triplet) at += percent::triplet_bytes - 1;
  }
  return std::ranges::any_of(names, [&decoded](std::string_view name) {
    return ascii::equals_ignoring_case(decoded, name);
  });
}

// Of OAuth 2.0 (RFC 6749, RFC 7521), of signed URLs, and of what applications call their own.
constexpr std::string_view secret_names[] = {"access_token",
                                             "api_key",
                                             "apikey",
                                             "assertion",
                                             "auth",
                                             "client_assertion",
                                             "client_secret",
                                             "code",
                                             "id_token",
                                             "jwt",
                                             "key",
                                             "passwd",
                                             "password",
                                             "pwd",
                                             "refresh_token",
                                             "secret",
                                             "session",
                                             "session_id",
                                             "sessionid",
                                             "sid",
                                             "sig",
                                             "signature",
                                             "token",
                                             "X-Amz-Security-Token",
                                             "X-Amz-Signature",
                                             "X-Goog-Signature"};

}  // namespace

std::span<const std::string_view> secret_parameters() noexcept { return secret_names; }

MaskedQuery::MaskedQuery(std::string_view text, const std::vector<std::string>& names)
    : text_(text) {
  mask(names);
}

MaskedQuery::MaskedQuery(std::string_view text) : text_(text) { mask(secret_parameters()); }

template <class Names>
void MaskedQuery::mask(const Names& names) {
  const std::string_view text = text_;
  std::size_t copied = 0;  // of the text
  std::size_t begin = text.find_first_of("?#");
  while (begin != text.npos) {
    ++begin;
    const std::size_t end = std::min(text.find_first_of("&;#?", begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    const std::size_t equals = part.find('=');
    if (equals != part.npos && equals + 1 < part.size() &&
        is_named(part.substr(0, equals), names)) {
      changed_.append(text.substr(copied, begin + equals + 1 - copied)).append("***");
      copied = end;
    }
    begin = end < text.size() ? end : text.npos;
  }
  if (copied == 0) return;
  changed_.append(text.substr(copied));
  text_ = changed_;
}

}  // namespace skua::http
