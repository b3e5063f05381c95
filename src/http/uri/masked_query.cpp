// SPDX-License-Identifier: MIT
// In: `/path?a=1&token=secret`. Out: `/path?a=1&token=***`. A text without such names is not
// copied.
#include "http/uri/masked_query.hpp"

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

bool is_named(std::string_view sent, std::string_view lines) noexcept {
  while (!lines.empty()) {
    const std::size_t size = lines.find('\n');
    if (is_name(sent, lines.substr(0, size))) return true;
    lines.remove_prefix(size + 1);
  }
  return false;
}

// Of OAuth 2.0 (RFC 6749, RFC 7521), of signed URLs, and of what applications call their own.
// A line each, which takes less of a program than a table.
constexpr std::string_view secret_names =
    "access_token\n"
    "api_key\n"
    "apikey\n"
    "assertion\n"
    "auth\n"
    "client_assertion\n"
    "client_secret\n"
    "code\n"
    "id_token\n"
    "jwt\n"
    "key\n"
    "passwd\n"
    "password\n"
    "pwd\n"
    "refresh_token\n"
    "secret\n"
    "session\n"
    "session_id\n"
    "sessionid\n"
    "sid\n"
    "sig\n"
    "signature\n"
    "token\n"
    "X-Amz-Security-Token\n"
    "X-Amz-Signature\n"
    "X-Goog-Signature\n";

}  // namespace

std::vector<std::string> secret_parameters() {
  std::vector<std::string> names;
  std::string_view rest = secret_names;
  while (!rest.empty()) {
    const std::size_t size = rest.find('\n');
    names.emplace_back(rest.substr(0, size));
    rest.remove_prefix(size + 1);
  }
  return names;
}

MaskedQuery::MaskedQuery(std::string_view text, const std::vector<std::string>& names)
    : text_(text) {
  std::string lines;
  for (const std::string& name : names) lines.append(name).append("\n");
  mask(lines);
}

MaskedQuery::MaskedQuery(std::string_view text) : text_(text) { mask(secret_names); }

void MaskedQuery::mask(std::string_view lines) {
  const std::string_view text = text_;
  std::size_t copied = 0;  // of the text
  std::size_t begin = text.find_first_of("?#");
  while (begin != text.npos) {
    ++begin;
    const std::size_t end = std::min(text.find_first_of("&;#?", begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    const std::size_t equals = part.find('=');
    if (equals != part.npos && equals + 1 < part.size() &&
        is_named(part.substr(0, equals), lines)) {
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
