// SPDX-License-Identifier: MIT
// In: a number of bytes. Out: that many from the kernel's generator, which never blocks once it is
// seeded. There is no generator of our own: small draws come from a buffer of the thread, and a
// child of fork() begins without its parent's.
#include "crypto/random.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#if defined(_WIN32)
#include <windows.h>

#include <bcrypt.h>
#include <cerrno>
#else
#include <pthread.h>
#if __has_include(<sys/random.h>)
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#else
#include <random>
#endif
#endif

#include "base/base_encoding.hpp"

namespace skua::crypto {

namespace {

/// Random bytes of a thread that nobody has drawn yet: the last `left` ones.
struct Drawable {
  std::array<std::byte, 256> bytes{};
  std::size_t left = 0;
};

thread_local Drawable drawable;

#if defined(_WIN32)

Result<void> fill_from_system(std::span<std::byte> bytes) {
  auto* const out = reinterpret_cast<unsigned char*>(bytes.data());
  if (::BCryptGenRandom(nullptr, out, static_cast<ULONG>(bytes.size()),
                        BCRYPT_USE_SYSTEM_PREFERRED_RNG) != 0) {
    return Error::from_system(EIO, "random bytes");
  }
  return {};
}

bool forgets_at_fork() noexcept { return true; }

#else

#if __has_include(<sys/random.h>)

Result<void> fill_from_system(std::span<std::byte> bytes) {
  constexpr std::size_t max_at_once = 256;  // the limit of getentropy
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(max_at_once, bytes.size()))) {
    if (getentropy(bytes.data(), std::min(max_at_once, bytes.size())) != 0) {
      return Error::from_system(errno, "random bytes");
    }
  }
  return {};
}

#else

Result<void> fill_from_system(std::span<std::byte> bytes) {
  std::random_device device;
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(device() & 0xffU);
  return {};
}

#endif

// A child would draw the same bytes as its parent. Only the thread that forks lives on in it.
bool forgets_at_fork() noexcept {
  static const bool is_arranged =
      pthread_atfork(nullptr, nullptr, [] { drawable = Drawable(); }) == 0;
  return is_arranged;
}

#endif

Result<void> draw_from_thread(std::span<std::byte> bytes) {
  if (bytes.empty()) return {};  // memcpy() takes no null
  Drawable& own = drawable;
  if (bytes.size() > own.bytes.size() || !forgets_at_fork()) return fill_from_system(bytes);
  if (bytes.size() > own.left) {
    own.left = 0;
    if (const Result<void> filled = fill_from_system(own.bytes); !filled) return filled.error();
    own.left = own.bytes.size();
  }
  std::byte* const drawn = own.bytes.data() + (own.bytes.size() - own.left);
  std::memcpy(bytes.data(), drawn, bytes.size());
  std::memset(drawn, 0, bytes.size());  // what was drawn is not kept
  own.left -= bytes.size();
  return {};
}

}  // namespace

Result<std::string> random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  const Result<void> filled = fill_from_system(std::as_writable_bytes(std::span(bytes)));
  if (!filled) return filled.error();
  return bytes;
}

void draw(std::span<std::byte> bytes) { draw_from_thread(bytes).value(); }

std::uint64_t random_word() {
  std::uint64_t word = 0;
  draw(std::as_writable_bytes(std::span(&word, 1)));
  return word;
}

Result<std::string> random_token(std::size_t count_bytes) {
  std::string bytes(count_bytes, '\0');
  const Result<void> drawn = draw_from_thread(std::as_writable_bytes(std::span(bytes)));
  if (!drawn) return drawn.error();
  return hex::encode(bytes);
}

}  // namespace skua::crypto
