// SPDX-License-Identifier: MIT
// In: bytes, whole or in pieces. Out: their hash from OpenSSL, or Unsupported without it.
#include "crypto/digest.hpp"

#include "base/hex.hpp"

#ifdef SKUA_HAS_TLS
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

}  // namespace skua::crypto
