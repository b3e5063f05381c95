// SPDX-License-Identifier: MIT
// Names of codings, and which of them this build supports.
#include "coding/coding.hpp"

#include "base/ascii.hpp"

namespace skua::coding {

std::string_view name(Coding coding) noexcept {
  switch (coding) {
    case Coding::Gzip: return "gzip";
    case Coding::Deflate: return "deflate";
    case Coding::Brotli: return "br";
    case Coding::Zstd: return "zstd";
  }
  return {};
}

std::optional<Coding> find_coding(std::string_view text) noexcept {
  for (const Coding coding : {Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd}) {
    if (ascii::equals_ignoring_case(text, name(coding))) return coding;
  }
  if (ascii::equals_ignoring_case(text, "x-gzip")) return Coding::Gzip;
  return std::nullopt;
}

bool is_available(Coding coding) noexcept {
  switch (coding) {
    case Coding::Gzip:
    case Coding::Deflate:
#if defined(SKUA_HAS_ZLIB)
      return true;
#else
      return false;
#endif
    case Coding::Brotli:
#if defined(SKUA_HAS_BROTLI)
      return true;
#else
      return false;
#endif
    case Coding::Zstd:
#if defined(SKUA_HAS_ZSTD)
      return true;
#else
      return false;
#endif
  }
  return false;
}

}  // namespace skua::coding
