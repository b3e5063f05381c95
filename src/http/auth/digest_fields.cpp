// SPDX-License-Identifier: MIT
// In: a challenge or credentials of any scheme. Out: their Digest form, and its field value. RFC
// 7616 §3.3 and §3.4 fix which values are quoted, and old clients insist on it.
#include <algorithm>
#include <array>

#include "base/ascii.hpp"
#include "base/base_encoding.hpp"
#include "http/auth/challenge.hpp"
#include "skua/credentials.hpp"

namespace skua {
namespace {

constexpr Error malformed_digest{Errc::MalformedChallenge, "Digest"};
constexpr Error unsupported{Errc::Unsupported, "Digest"};

constexpr std::array<std::string_view, 6> algorithm_names = {
    "MD5", "MD5-sess", "SHA-256", "SHA-256-sess", "SHA-512-256", "SHA-512-256-sess"};

std::string value_of(const Challenge& challenge, std::string_view name) {
  const std::string* const value = challenge.find(name);
  return value == nullptr ? std::string() : *value;
}

bool is_true(const Challenge& challenge, std::string_view name) {
  const std::string* const value = challenge.find(name);
  return value != nullptr && ascii::equals_ignoring_case(*value, "true");
}

// RFC 7616 §3.3: the default is MD5.
Result<DigestAlgorithm> algorithm_of(const Challenge& challenge) {
  const std::string* const text = challenge.find("algorithm");
  const auto algorithm = text == nullptr ? DigestAlgorithm::Md5 : parse_digest_algorithm(*text);
  if (!algorithm) return unsupported;
  return *algorithm;
}

// Parses exactly eight lowercase digits: only this spelling was hashed. RFC 7616 §3.4
std::optional<std::uint32_t> parse_count(std::string_view text) noexcept {
  std::uint32_t count = 0;
  if (!hex::is_lower_text(text, 8)) return std::nullopt;
  for (const char c : text) count = count << 4U | ascii::hex_value(c);
  if (count == 0) return std::nullopt;
  return count;
}

// Decodes `UTF-8''J%C3%A4s`. RFC 8187 §3.2.1
std::optional<std::string> parse_extended(std::string_view text) {
  constexpr std::string_view charset = "UTF-8'";
  if (!ascii::equals_ignoring_case(text.substr(0, charset.size()), charset)) return std::nullopt;
  text.remove_prefix(charset.size());
  const std::size_t quote = text.find('\'');
  if (quote == text.npos) return std::nullopt;
  text.remove_prefix(quote + 1);
  std::string out;
  while (!text.empty()) {
    const bool is_encoded = text.front() == '%';
    if (is_encoded && (text.size() < 3 || !ascii::is_hex(text[1]) || !ascii::is_hex(text[2]))) {
      return std::nullopt;
    }
    if (is_encoded) {
      out += static_cast<char>(ascii::hex_value(text[1]) << 4U | ascii::hex_value(text[2]));
    } else if (ascii::is_token(text.front())) {
      out += text.front();
    } else {
      return std::nullopt;
    }
    text.remove_prefix(is_encoded ? 3 : 1);
  }
  return out;
}

// Encodes an extended value. RFC 8187 §3.2.1: attr-char stands for itself.
std::string extended(std::string_view text) {
  std::string out = "UTF-8''";
  for (const char c : text) {
    if (ascii::is_alpha(c) || ascii::is_digit(c) ||
        std::string_view("-._~").find(c) != std::string_view::npos) {
      out += c;
    } else {
      out.append("%").append(hex::encode({&c, 1}));
    }
  }
  return out;
}

// Reports whether a text can be quoted: no control characters, and only ASCII if asked for.
bool is_quotable(std::string_view text, bool only_ascii) noexcept {
  return std::ranges::all_of(text, [only_ascii](char c) {
    const auto octet = static_cast<unsigned char>(c);
    return octet >= 0x20 && octet != 0x7f && (octet < 0x80 || !only_ascii);
  });
}

Result<void> read_user(const Challenge& from, DigestCredentials& to) {
  const std::string* const plain = from.find("username");
  const std::string* const encoded = from.find("username*");
  // RFC 7616 §3.4: exactly one of the two; a hashed name is not encoded.
  if ((plain == nullptr) == (encoded == nullptr)) return malformed_digest;
  to.is_user_hashed = is_true(from, "userhash");
  if (plain != nullptr) {
    to.user = *plain;
    return {};
  }
  auto decoded = parse_extended(*encoded);
  if (!decoded || to.is_user_hashed) return malformed_digest;
  to.user = *std::move(decoded);
  return {};
}

Result<void> read_qop(const Challenge& from, DigestCredentials& to) {
  const std::string* const qop = from.find("qop");
  const std::string* const count = from.find("nc");
  if (qop == nullptr) return {};
  if (ascii::equals_ignoring_case(*qop, "auth")) {
    to.qop = DigestQop::Auth;
  } else if (ascii::equals_ignoring_case(*qop, "auth-int")) {
    to.qop = DigestQop::AuthInt;
  } else {
    return unsupported;
  }
  const auto number = count == nullptr ? std::nullopt : parse_count(*count);
  if (!number || to.cnonce.empty()) return malformed_digest;
  to.nonce_count = *number;
  return {};
}

}  // namespace

std::string http::digest_count(std::uint32_t count) {
  std::string bytes;
  for (unsigned shift = 32; shift != 0; shift -= 8) {
    bytes += static_cast<char>(count >> (shift - 8) & 0xffU);
  }
  return hex::encode(bytes);
}

std::string_view name(DigestAlgorithm algorithm) noexcept {
  return algorithm_names[static_cast<std::size_t>(algorithm)];
}

std::optional<DigestAlgorithm> parse_digest_algorithm(std::string_view name) noexcept {
  for (std::size_t i = 0; i < algorithm_names.size(); ++i) {
    if (ascii::equals_ignoring_case(name, algorithm_names[i])) {
      return static_cast<DigestAlgorithm>(i);
    }
  }
  return std::nullopt;
}

Result<DigestChallenge> DigestChallenge::from(const Challenge& challenge) {
  DigestChallenge out;
  out.realm = value_of(challenge, "realm");
  out.nonce = value_of(challenge, "nonce");
  out.opaque = value_of(challenge, "opaque");
  out.domain = value_of(challenge, "domain");
  if (!challenge.is("Digest") || out.nonce.empty()) return malformed_digest;
  const auto algorithm = algorithm_of(challenge);
  if (!algorithm) return algorithm.error();
  out.algorithm = *algorithm;
  out.is_stale = is_true(challenge, "stale");
  out.wants_user_hash = is_true(challenge, "userhash");
  out.is_utf8 = ascii::equals_ignoring_case(value_of(challenge, "charset"), "UTF-8");
  const std::string* const qop = challenge.find("qop");
  out.offers_auth = false;
  for (std::string_view list = qop == nullptr ? std::string_view() : *qop; !list.empty();) {
    const std::string_view one = ascii::take_list_element(list);
    if (ascii::equals_ignoring_case(one, "auth")) out.offers_auth = true;
    if (ascii::equals_ignoring_case(one, "auth-int")) out.offers_auth_int = true;
  }
  if (qop != nullptr && !out.offers_auth && !out.offers_auth_int) return unsupported;
  return out;
}

std::string DigestChallenge::field() const {
  std::string out = "Digest ";
  http::append_quoted(out, "realm", realm);
  if (!domain.empty()) http::append_quoted(out, "domain", domain);
  http::append_quoted(out, "nonce", nonce);
  if (!opaque.empty()) http::append_quoted(out, "opaque", opaque);
  if (is_stale) http::append_token(out, "stale", "true");
  http::append_token(out, "algorithm", name(algorithm));
  if (offers_auth || offers_auth_int) {
    http::append_quoted(out, "qop",
                        !offers_auth_int ? "auth"
                        : offers_auth    ? "auth, auth-int"
                                         : "auth-int");
  }
  if (is_utf8) http::append_token(out, "charset", "UTF-8");
  if (wants_user_hash) http::append_token(out, "userhash", "true");
  return out;
}

Result<DigestCredentials> DigestCredentials::from(const Challenge& credentials) {
  DigestCredentials out;
  if (!credentials.is("Digest")) return malformed_digest;
  for (const std::string_view needed : {"realm", "nonce", "uri", "response"}) {
    if (credentials.find(needed) == nullptr) return malformed_digest;
  }
  out.realm = value_of(credentials, "realm");
  out.nonce = value_of(credentials, "nonce");
  out.uri = value_of(credentials, "uri");
  out.response = value_of(credentials, "response");
  out.cnonce = value_of(credentials, "cnonce");
  out.opaque = value_of(credentials, "opaque");
  const auto algorithm = algorithm_of(credentials);
  if (!algorithm) return algorithm.error();
  out.algorithm = *algorithm;
  if (const auto read = read_user(credentials, out); !read) return read.error();
  if (const auto read = read_qop(credentials, out); !read) return read.error();
  return out;
}

std::string DigestCredentials::field() const {
  std::string out = "Digest ";
  if (is_user_hashed || is_quotable(user, may_encode_user)) {
    http::append_quoted(out, "username", user);
  } else {
    http::append_token(out, "username*", extended(user));
  }
  http::append_quoted(out, "realm", realm);
  http::append_quoted(out, "uri", uri);
  http::append_token(out, "algorithm", name(algorithm));
  http::append_quoted(out, "nonce", nonce);
  if (qop != DigestQop::Legacy) {
    http::append_token(out, "nc", http::digest_count(nonce_count));
    http::append_token(out, "qop", qop == DigestQop::Auth ? "auth" : "auth-int");
  }
  if (!cnonce.empty()) http::append_quoted(out, "cnonce", cnonce);
  http::append_quoted(out, "response", response);
  if (!opaque.empty()) http::append_quoted(out, "opaque", opaque);
  if (is_user_hashed) http::append_token(out, "userhash", "true");
  return out;
}

}  // namespace skua
