// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace skua {

using namespace std::chrono_literals;

/// A length of time; the type of every duration in the API.
using Duration = std::chrono::nanoseconds;

/// A view of bytes owned elsewhere.
using Bytes = std::span<const std::byte>;

inline namespace literals {
consteval std::size_t operator""_KiB(unsigned long long n) {
  return static_cast<std::size_t>(n) << 10;
}
consteval std::size_t operator""_MiB(unsigned long long n) {
  return static_cast<std::size_t>(n) << 20;
}
consteval std::size_t operator""_GiB(unsigned long long n) {
  return static_cast<std::size_t>(n) << 30;
}
}  // namespace literals

/// Returns a view of bytes as text.
inline std::string_view text(Bytes bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Returns a view of text as bytes.
inline Bytes bytes(std::string_view text) noexcept {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace skua
