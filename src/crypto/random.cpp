// SPDX-License-Identifier: MIT
// In: a number of bytes. Out: that many from the kernel's generator, which never blocks once it is
// seeded. There is no generator of our own, so nothing to seed, lock or protect across fork().
#include "crypto/random.hpp"

#include <random>

#if defined(_WIN32)
#include <windows.h>

#include <bcrypt.h>
#include <cerrno>
#elif __has_include(<sys/random.h>)
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#endif

namespace skua::crypto {

#if defined(_WIN32)

Result<std::string> random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  auto* const out = reinterpret_cast<unsigned char*>(bytes.data());
  if (::BCryptGenRandom(nullptr, out, static_cast<ULONG>(count), BCRYPT_USE_SYSTEM_PREFERRED_RNG) !=
      0) {
    return Error::from_system(EIO, "random bytes");
  }
  return bytes;
}

#elif __has_include(<sys/random.h>)

Result<std::string> random_bytes(std::size_t count) {
  constexpr std::size_t max_at_once = 256;  // the limit of getentropy
  std::string bytes(count, '\0');
  for (std::size_t at = 0; at < count; at += max_at_once) {
    if (getentropy(bytes.data() + at, std::min(max_at_once, count - at)) != 0) {
      return Error::from_system(errno, "random bytes");
    }
  }
  return bytes;
}

#else

Result<std::string> random_bytes(std::size_t count) {
  std::random_device device;
  std::string bytes(count, '\0');
  for (char& c : bytes) c = static_cast<char>(device() & 0xffU);
  return bytes;
}

#endif

std::uint64_t random_word() {
  thread_local std::mt19937_64 generator = [] {
    // Some std::random_device open a file, which a program in a sandbox may not.
    const std::string bytes = random_bytes(32).value();
    std::seed_seq seed(bytes.begin(), bytes.end());
    return std::mt19937_64(seed);
  }();
  return generator();
}

}  // namespace skua::crypto
