// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "coding/coding.hpp"
#include "skua/error.hpp"

namespace skua::files {

/// Compresses for archives: quick rather than small, since a client waits for it.
inline constexpr int archive_level = 3;

/// A raw deflate stream, without the wrapper of zlib: compressed, or as it is if the first piece
/// does not shrink, or this build has no zlib.
///
/// RFC:       1951
class ZipDeflate final {
 public:
  /// Returns the content as a stream if that is smaller; otherwise an empty text.
  Result<std::string> whole(std::string_view content);

  /// Begins a stream.
  void begin() noexcept { way_ = Way::Unknown; }
  Result<void> write(std::string_view piece, std::string& out);
  Result<void> end(std::string& out);

 private:
  enum class Way : std::uint8_t { Unknown, Compressed, Stored };

  // Returns nullptr if this build has no zlib.
  Result<coding::Encoder*> restart();
  Result<void> write_first(std::string_view piece, std::string& out);

  std::optional<coding::Encoder> encoder_{};
  Way way_ = Way::Unknown;
};

}  // namespace skua::files
