// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "skua/error.hpp"

namespace skua::tls {

/// Why something cannot be set up: the error, and a text for the operator that names the file, what
/// is wrong with it and what to do. The text is not for peers.
struct Problem {
  Error error = Errc::None;
  std::string text{};
};

/// A T, or why there is none.
template <class T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : value_(std::in_place_index<0>, std::move(value)) {}
  Outcome(Problem problem) : value_(std::in_place_index<1>, std::move(problem)) {}

  explicit operator bool() const noexcept { return value_.index() == 0; }
  T& operator*() & noexcept SKUA_LIFETIMEBOUND { return *get(); }
  T&& operator*() && noexcept SKUA_LIFETIMEBOUND { return std::move(*get()); }
  const T& operator*() const& noexcept SKUA_LIFETIMEBOUND {
    SKUA_ASSERT(value_.index() == 0);
    return *std::get_if<0>(&value_);
  }
  T* operator->() noexcept SKUA_LIFETIMEBOUND { return get(); }
  [[nodiscard]] const Problem& problem() const& noexcept SKUA_LIFETIMEBOUND {
    SKUA_ASSERT(value_.index() == 1);
    return *std::get_if<1>(&value_);
  }

 private:
  T* get() noexcept {
    SKUA_ASSERT(value_.index() == 0);
    return std::get_if<0>(&value_);
  }
  std::variant<T, Problem> value_;
};

/// That settings, certificates or keys cannot be used, and why.
inline Problem unusable(std::string text) {
  return {Error(Errc::TlsConfiguration, "TLS"), std::move(text)};
}

/// What all of this folder says in a build without OpenSSL.
inline Problem no_openssl() {
  return {Error(Errc::Unsupported, "TLS"),
          "this build of skua has no TLS: install OpenSSL 3 with its headers (Debian, Ubuntu: "
          "libssl-dev; Fedora: openssl-devel) and build skua again"};
}

}  // namespace skua::tls
