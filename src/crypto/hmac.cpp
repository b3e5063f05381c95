// SPDX-License-Identifier: MIT
// In: a key and bytes, or a secret and a purpose. Out: an authentication code, or a derived key.
#include "crypto/hmac.hpp"

#ifdef SKUA_HAS_TLS
#include <openssl/hmac.h>

#include <climits>

#include "crypto/openssl.hpp"
#endif

namespace skua::crypto {

#ifdef SKUA_HAS_TLS

Result<std::string> hmac(Hash algorithm, std::string_view key, std::string_view bytes) {
  if (key.size() > INT_MAX) return Error(Errc::Unsupported, "hmac");
  unsigned char value[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (HMAC(find(algorithm), octets(key), static_cast<int>(key.size()), octets(bytes), bytes.size(),
           value, &size) == nullptr) {
    return Error(Errc::Unsupported, "hmac");
  }
  return std::string(reinterpret_cast<const char*>(value), size);
}

#else

Result<std::string> hmac(Hash, std::string_view, std::string_view) {
  return Error(Errc::Unsupported, "hmac");
}

#endif

Result<std::string> hkdf_sha256(std::string_view secret, std::string_view salt,
                                std::string_view info, std::size_t size_bytes) {
  // RFC 5869 §2.2, §2.3
  if (size_bytes > 255 * crypto::size_bytes(Hash::Sha256)) return Error(Errc::Unsupported, "hkdf");
  const std::string zeros(crypto::size_bytes(Hash::Sha256), '\0');
  const auto extracted = hmac(Hash::Sha256, salt.empty() ? std::string_view(zeros) : salt, secret);
  if (!extracted) return extracted.error();
  std::string key;
  std::string block;
  for (unsigned char counter = 1; key.size() < size_bytes; ++counter) {
    block.append(info).push_back(static_cast<char>(counter));
    auto next = hmac(Hash::Sha256, *extracted, block);
    if (!next) return next.error();
    block = *std::move(next);
    key.append(block);
  }
  key.resize(size_bytes);
  return key;
}

}  // namespace skua::crypto
