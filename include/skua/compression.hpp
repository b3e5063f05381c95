// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua {

namespace middleware {
class Compressor;
}

/// Options of compression(). Codings that are not built in are ignored.
struct CompressionOptions {
  std::size_t min_bytes = 1_KiB;  ///< shorter content is not compressed: it would hardly shrink
  /// Longer content is not compressed: it would block the loop, for about 3 ms (zstd) to 40 ms
  /// (gzip) per MiB.
  std::size_t max_bytes = 1_MiB;
  /// Also compresses streams, piece by piece as they are written. Each stream holds an encoder of
  /// 256 KiB (gzip) to a few MiB (brotli, zstd), which adds up with many slow clients.
  bool streams = false;
  int zstd_level = 3;    ///< 1 to 19; zero: no zstd
  int brotli_level = 4;  ///< 1 to 11; zero: no brotli
  int gzip_level = 6;    ///< 1 to 9; zero: no gzip
};

/// Middleware that compresses responses if the client accepts it (Accept-Encoding): zstd, brotli or
/// gzip, in this order if the client has no preference.
///
/// ```cpp
/// router.use(skua::compression());
/// ```
///
/// Compresses content in memory of a compressible type (text, JSON, XML, SVG, WebAssembly), and
/// streams of such a type if CompressionOptions::streams is set. Leaves alone files over 64 KiB,
/// endless streams, 204, 206, 304, and responses with a Content-Encoding or
/// `Cache-Control: no-transform`.
/// Adds `Vary: Accept-Encoding`, makes a strong ETag weak, and removes digests of the content and
/// Accept-Ranges.
///
/// A compressed stream takes no file ranges: writing one ends it with Unsupported.
///
/// A compressed page that contains both a secret and request data reveals the secret by its length
/// (BREACH): give such responses `Cache-Control: no-transform`.
class SKUA_API Compression final {
 public:
  explicit Compression(std::shared_ptr<const middleware::Compressor> compressor) noexcept;
  void operator()(const Request& request, Response& response) const;

 private:
  // Copies of the middleware share it.
  std::shared_ptr<const middleware::Compressor> compressor_;
};

/// Compresses responses. Finishers run in the order in which they were added: add this one after
/// those that change content.
///
/// Ends with: std::invalid_argument for an invalid level, if min_bytes exceeds max_bytes, and if no
///            coding is left.
/// RFC:       9110 §8.4, §8.8.3.3, §12.5.3
[[nodiscard]] SKUA_API Compression compression(const CompressionOptions& options = {});

}  // namespace skua
