// SPDX-License-Identifier: MIT
// In: bytes, whole or in pieces. Out: their hash from OpenSSL, or Unsupported without it.
#include "crypto/digest.hpp"

#include "base/base_encoding.hpp"

#ifdef SKUA_HAS_TLS
#include <openssl/hmac.h>

#include <climits>

#include "crypto/openssl.hpp"
#endif

namespace skua::crypto {

Result<std::string> hash(Hash algorithm, std::string_view bytes) {
  auto hasher = Hasher::create(algorithm);
  if (!hasher) return hasher.error();
  if (const auto updated = hasher->update(bytes); !updated) return updated.error();
  return hasher->finish();
}

Result<std::string> hash_hex(Hash algorithm, std::string_view bytes) {
  const auto value = hash(algorithm, bytes);
  if (!value) return value.error();
  return hex::encode(*value);
}

#ifdef SKUA_HAS_TLS

namespace {

EVP_MD_CTX* as_context(void* context) noexcept { return static_cast<EVP_MD_CTX*>(context); }

}  // namespace

bool is_available() noexcept { return true; }

void Hasher::Release::operator()(void* context) const noexcept {
  EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context));
}

Result<Hasher> Hasher::create(Hash algorithm) {
  Hasher hasher(EVP_MD_CTX_new());
  if (!hasher.context_) return Error(Errc::OutOfMemory, "hash");
  if (EVP_DigestInit_ex(as_context(hasher.context_.get()), find(algorithm), nullptr) != 1) {
    return Error(Errc::Unsupported, "hash");
  }
  return hasher;
}

Result<void> Hasher::update(std::string_view bytes) {
  if (EVP_DigestUpdate(as_context(context_.get()), bytes.data(), bytes.size()) != 1) {
    return Error(Errc::SystemFailure, "hash");
  }
  return {};
}

Result<std::string> Hasher::finish() {
  unsigned char value[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (EVP_DigestFinal_ex(as_context(context_.get()), value, &size) != 1) {
    return Error(Errc::SystemFailure, "hash");
  }
  return std::string(reinterpret_cast<const char*>(value), size);
}

#else

bool is_available() noexcept { return false; }

void Hasher::Release::operator()(void*) const noexcept {}

Result<Hasher> Hasher::create(Hash) { return Error(Errc::Unsupported, "hash"); }

Result<void> Hasher::update(std::string_view) { return Error(Errc::Unsupported, "hash"); }

Result<std::string> Hasher::finish() { return Error(Errc::Unsupported, "hash"); }

#endif

#ifdef SKUA_HAS_TLS

// In: a key and bytes, or a secret and a purpose. Out: an authentication code, or a derived key.

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
