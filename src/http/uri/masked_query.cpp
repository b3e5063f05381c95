// SPDX-License-Identifier: MIT
// In: `/path?a=1&token=secret`. Out: `/path?a=1&token=***`. A text without such names is not
// copied.
#include "http/uri/masked_query.hpp"

#include <algorithm>

#include "base/ascii.hpp"
#include "base/percent.hpp"

namespace skua::http {
namespace {

// Reports whether a name, as sent, is this one once it is decoded.
bool is_name(std::string_view sent, std::string_view name) noexcept {
  for (const char c : name) {
    if (sent.empty()) return false;
    const bool is_triplet = percent::has_triplet(sent);
    const char octet = is_triplet ? percent::triplet_octet(sent) : sent.front();
    if (ascii::to_lower(octet) != ascii::to_lower(c)) return false;
    sent.remove_prefix(is_triplet ? percent::triplet_bytes : 1);
  }
  return sent.empty();
}

bool is_named(std::string_view sent, std::span<const std::string_view> names) noexcept {
  return std::any_of(names.begin(), names.end(),
                     [sent](std::string_view name) { return is_name(sent, name); });
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
  mask(std::vector<std::string_view>(names.begin(), names.end()));
}

MaskedQuery::MaskedQuery(std::string_view text) : text_(text) { mask(secret_parameters()); }

void MaskedQuery::mask(std::span<const std::string_view> names) {
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
