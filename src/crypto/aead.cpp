// SPDX-License-Identifier: MIT
// In: plain text and associated data. Out: nonce, cipher text and tag; or, from those, the plain
// text, provided that not a bit was changed.
#include "crypto/aead.hpp"

#include "crypto/digest.hpp"
#include "crypto/random.hpp"

#ifdef SKUA_HAS_TLS
#include <climits>
#include <memory>

#include "crypto/openssl.hpp"
#endif

namespace skua::crypto {
namespace {

constexpr std::size_t key_bytes = 32;
constexpr std::size_t nonce_bytes = 12;

}  // namespace

Result<Aead> Aead::derive(std::string_view secret, std::string_view purpose) {
  auto key = hkdf_sha256(secret, {}, purpose, key_bytes);
  if (!key) return key.error();
  return Aead(*std::move(key));
}

Result<std::string> Aead::seal(std::string_view plain, std::string_view associated) const {
  const auto nonce = random_bytes(nonce_bytes);
  if (!nonce) return nonce.error();
  return seal_with_nonce(plain, associated, *nonce);
}

#ifdef SKUA_HAS_TLS

namespace {

constexpr std::size_t tag_bytes = 16;
static_assert(nonce_bytes + tag_bytes == Aead::overhead_bytes);

struct Release {
  void operator()(EVP_CIPHER_CTX* context) const noexcept { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, Release>;

}  // namespace

Result<std::string> Aead::seal_with_nonce(std::string_view plain, std::string_view associated,
                                          std::string_view nonce) const {
  const Error failure(Errc::SystemFailure, "seal");
  const Context context(EVP_CIPHER_CTX_new());
  if (!context || nonce.size() != nonce_bytes || plain.size() > INT_MAX ||
      associated.size() > INT_MAX) {
    return failure;
  }
  std::string sealed(nonce);
  sealed.resize(nonce_bytes + plain.size() + tag_bytes);
  unsigned char* const cipher = octets(sealed) + nonce_bytes;
  int size = 0;
  const bool is_sealed =
      EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, octets(key_), octets(nonce)) ==
          1 &&
      EVP_EncryptUpdate(context.get(), nullptr, &size, octets(associated),
                        static_cast<int>(associated.size())) == 1 &&
      EVP_EncryptUpdate(context.get(), cipher, &size, octets(plain),
                        static_cast<int>(plain.size())) == 1 &&
      EVP_EncryptFinal_ex(context.get(), cipher + plain.size(), &size) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, static_cast<int>(tag_bytes),
                          cipher + plain.size()) == 1;
  if (!is_sealed) return failure;
  return sealed;
}

Result<std::string> Aead::open(std::string_view sealed, std::string_view associated) const {
  const Error failure(Errc::PermissionDenied, "open");
  if (sealed.size() < overhead_bytes || sealed.size() > INT_MAX || associated.size() > INT_MAX) {
    return failure;
  }
  const Context context(EVP_CIPHER_CTX_new());
  if (!context) return Error(Errc::OutOfMemory, "open");
  const std::string_view cipher = sealed.substr(nonce_bytes, sealed.size() - overhead_bytes);
  std::string tag(sealed.substr(sealed.size() - tag_bytes));  // OpenSSL wants a non-const pointer
  std::string plain(cipher.size(), '\0');
  int size = 0;
  const bool is_open = EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, octets(key_),
                                          octets(sealed)) == 1 &&
                       EVP_DecryptUpdate(context.get(), nullptr, &size, octets(associated),
                                         static_cast<int>(associated.size())) == 1 &&
                       EVP_DecryptUpdate(context.get(), octets(plain), &size, octets(cipher),
                                         static_cast<int>(cipher.size())) == 1 &&
                       EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG,
                                           static_cast<int>(tag_bytes), tag.data()) == 1 &&
                       EVP_DecryptFinal_ex(context.get(), octets(plain) + plain.size(), &size) == 1;
  if (!is_open) return failure;
  return plain;
}

#else

Result<std::string> Aead::seal_with_nonce(std::string_view, std::string_view,
                                          std::string_view) const {
  return Error(Errc::Unsupported, "seal");
}

Result<std::string> Aead::open(std::string_view, std::string_view) const {
  return Error(Errc::Unsupported, "open");
}

#endif

}  // namespace skua::crypto
