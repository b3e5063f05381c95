// SPDX-License-Identifier: MIT
#pragma once

#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "skua/error.hpp"
#include "skua/redis_reply.hpp"

namespace skua::redis {

// The end of a connection or a client must not fail: without memory, a problem has no text.

/// Returns the problem of an error.
inline Problem problem_of(Error error) noexcept {
  try {
    return Problem::from(error);
  } catch (const std::bad_alloc&) {
    return {.error = error};
  }
}

inline Problem copy_of(const Problem& why) noexcept {
  try {
    return why;
  } catch (const std::bad_alloc&) {
    return {.error = why.error};
  }
}

/// Remembers a problem.
inline void note(std::optional<Problem>& place, const Problem& why) noexcept {
  place = copy_of(why);
}

/// Returns the problem of an error that a server replied.
inline Problem error_of(const Reply& reply) {
  return {.error = Error(Errc::ErrorReply, "redis"), .text = std::string(reply.text())};
}

inline Problem out_of_memory() noexcept { return {.error = Error(Errc::OutOfMemory, "redis")}; }

/// The context of errors of logins that a server denies, other than those that may pass.
inline constexpr const char* denial = "redis: denied";

/// Reports whether an error reply says who the client is not, or what it may not do: another
/// attempt gets the same.
constexpr bool is_denial(std::string_view error_code) noexcept {
  return error_code == "WRONGPASS" || error_code == "NOAUTH" || error_code == "NOPERM";
}
/// Likewise, of a login or a reply.
inline bool is_denial(const Problem& why) noexcept {
  if (why.code() != Errc::ErrorReply) return false;
  return why.error.context() == denial ||
         is_denial(std::string_view(why.text).substr(0, why.text.find(' ')));
}

/// Reports whether another attempt to connect would most likely fail for the same reason.
inline bool is_permanent(const Problem& why) noexcept {
  switch (why.code()) {
    case Errc::ErrorReply:
    case Errc::MalformedReply:
    case Errc::TlsCertificate:
    case Errc::TlsConfiguration:
    case Errc::OutOfMemory: return true;
    default: return false;
  }
}

/// Whether a task runs: set while it does, however it ends.
class Running final {
 public:
  explicit Running(bool& flag) noexcept : flag_(flag) { flag_ = true; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { flag_ = false; }

 private:
  bool& flag_;
};

}  // namespace skua::redis
