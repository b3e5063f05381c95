// SPDX-License-Identifier: MIT
// A thin wrapper of libcrypt. Hashes are `$METHOD$PARAMETERS$SALT$HASH`, see crypt(5); bcrypt has
// no
// `$` between salt and hash.
#include "serve/auth/password_hash.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#if defined(SKUA_HAS_CRYPT)
#include <crypt.h>
#include <cstring>
#include <memory>
#endif

#include "skua/auth.hpp"

namespace skua::cli {
namespace {

struct HashMethod {
  std::string_view prefix;
  std::size_t last_part;  // how long the text after the last `$` is; 0: that differs
};
constexpr std::array<HashMethod, 9> strong_methods = {{{"$2a$", 53},
                                                       {"$2b$", 53},
                                                       {"$2y$", 53},
                                                       {"$y$", 43},
                                                       {"$gy$", 43},
                                                       {"$7$", 43},
                                                       {"$6$", 86},
                                                       {"$5$", 43},
                                                       {"$argon2", 0}}};

// Passwords could be found by trying: their methods are fast, or there is no hash at all.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> weak_methods = {{
    {"$apr1$", "is hashed with MD5, which is too weak"},
    {"$1$", "is hashed with MD5, which is too weak"},
    {"{SHA}", "is hashed with SHA-1, which is too weak"},
    {"$", "is hashed in an unknown way"},
}};

std::string weakness_of(std::string_view hash) {
  for (const auto& [prefix, flaw] : weak_methods) {
    if (hash.starts_with(prefix)) return std::string(flaw);
  }
  return "is not hashed, or in a way that is too weak";
}

#if defined(SKUA_HAS_CRYPT)

bool is_known(const std::string& hash) noexcept {
  const int answer = ::crypt_checksalt(hash.c_str());
  return answer != CRYPT_SALT_INVALID && answer != CRYPT_SALT_METHOD_DISABLED;
}

#endif

}  // namespace

std::string hash_flaw(const std::string& hash) {
  const auto method = std::ranges::find_if(
      strong_methods, [&](const HashMethod& one) { return hash.starts_with(one.prefix); });
  if (method == strong_methods.end()) return weakness_of(hash);
  const std::size_t last_part = hash.size() - hash.rfind('$') - 1;
  if (method->last_part != 0 && last_part != method->last_part) {
    return "has a hash that is incomplete, or too long";
  }
#if defined(SKUA_HAS_CRYPT)
  if (!is_known(hash)) return "has a hash of a kind that this system's libcrypt does not know";
#endif
  return {};
}

#if defined(SKUA_HAS_CRYPT)

bool has_password_hashes() noexcept { return true; }

bool has_hash(const std::string& password, const std::string& hash) {
  if (password.find('\0') != password.npos) return false;  // libcrypt would take what is before it
  const auto memory = std::make_unique<crypt_data>();      // 32 KiB, too much for a stack
  const char* const made = ::crypt_r(password.c_str(), hash.c_str(), memory.get());
  const bool is_equal = made != nullptr && auth::token_equals(made, hash);
  ::explicit_bzero(memory.get(), sizeof *memory);
  return is_equal;
}

#else

bool has_password_hashes() noexcept { return false; }

bool has_hash(const std::string&, const std::string&) { return false; }

#endif

}  // namespace skua::cli
