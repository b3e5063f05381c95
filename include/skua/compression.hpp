// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "skua/bytes.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua {

namespace middleware {
class Compressor;
}

/// What is compressed, and how hard. A coding that this build does not know is left out.
struct CompressionOptions {
  std::size_t min_bytes = 1_KiB;  ///< shorter texts go as they are: they would hardly shrink
  /// Longer ones too: the loop serves nobody else while it compresses, some 3 ms (zstd) to 40 ms
  /// (gzip) a MiB.
  std::size_t max_bytes = 1_MiB;
  /// Streams as well, piece by piece as they are written. Each one holds an encoder while it lasts:
  /// from 256 KiB (gzip) to some MiB (brotli, zstd), which many slow clients add up.
  bool streams = false;
  int zstd_level = 3;    ///< 1 to 19; zero: zstd is not used
  int brotli_level = 4;  ///< 1 to 11; zero: brotli is not used
  int gzip_level = 6;    ///< 1 to 9; zero: gzip is not used
};

/// Middleware that compresses texts for who asks for it (Accept-Encoding): zstd, brotli, gzip, in
/// this order where the client likes them the same.
///
/// ```cpp
/// router.use(skua::compression());
/// ```
///
/// What is compressed is content in memory of a type that is worth it (text, JSON, XML, SVG,
/// WebAssembly), and streams of such a type where CompressionOptions::streams says so. Files,
/// streams without an end, 204, 206, 304, what has a Content-Encoding already, and what says
/// `Cache-Control: no-transform` are left alone. `Vary: Accept-Encoding` is added, a strong
/// ETag becomes a weak one, digests of the content and Accept-Ranges are taken out.
///
/// A stream that is compressed takes no file ranges: writing one ends it with Unsupported.
///
/// A page that shows both a secret and what its request says gives the secret away by its length
/// (BREACH): give such responses `Cache-Control: no-transform`.
class Compression final {
 public:
  explicit Compression(std::shared_ptr<const middleware::Compressor> compressor) noexcept;
  void operator()(const Request& request, Response& response) const;

 private:
  // Shared: copies of the middleware are the same.
  std::shared_ptr<const middleware::Compressor> compressor_;
};

/// Compresses responses. Finishers run in the order in which they were added: add it after those
/// that change contents.
///
/// Ends with: std::invalid_argument for a level that there is not, where min_bytes is over
///            max_bytes, and where no coding is left.
/// RFC:       9110 §8.4, §8.8.3.3, §12.5.3
[[nodiscard]] Compression compression(const CompressionOptions& options = {});

}  // namespace skua
