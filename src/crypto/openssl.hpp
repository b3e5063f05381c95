// SPDX-License-Identifier: MIT
/// OpenSSL helpers for the sources in this folder; include only in builds with OpenSSL.
#pragma once

#include <openssl/evp.h>

#include <string>
#include <string_view>

#include "crypto/digest.hpp"

namespace skua::crypto {

inline const EVP_MD* find(Hash algorithm) noexcept {
  switch (algorithm) {
    case Hash::Md5: return EVP_md5();
    case Hash::Sha1: return EVP_sha1();
    case Hash::Sha256: return EVP_sha256();
    case Hash::Sha512256: return EVP_sha512_256();
  }
  return nullptr;
}

/// Never returns null, which has a special meaning to some OpenSSL functions.
inline const unsigned char* octets(std::string_view text) noexcept {
  return reinterpret_cast<const unsigned char*>(text.empty() ? "" : text.data());
}

inline unsigned char* octets(std::string& text) noexcept {
  return reinterpret_cast<unsigned char*>(text.data());
}

}  // namespace skua::crypto
