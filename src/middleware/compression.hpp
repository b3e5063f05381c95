// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "coding/coding.hpp"
#include "skua/body_writer.hpp"
#include "skua/compression.hpp"

namespace skua::middleware {

/// Compresses responses. Thread-safe.
class Compressor {
 public:
  explicit Compressor(const CompressionOptions& options);

  void finish(const Request& request, Response& response) const;

 private:
  struct Choice {
    coding::Coding coding = coding::Coding::Gzip;
    int level = 0;
  };

  [[nodiscard]] bool applies(const Response& response) const noexcept;
  [[nodiscard]] bool applies_to(const Body& content) const noexcept;
  [[nodiscard]] const Choice* choose(const Request& request) const noexcept;

  CompressionOptions options_;
  std::array<Choice, 3> choices_{};  // in order of preference
  std::array<std::string_view, 3> names_{};
  std::size_t count_ = 0;
};

/// Returns the stream with a content coding applied. Each written piece is flushed at once. The
/// coded length is not known beforehand, but a declared plain length is still enforced.
///
/// A file range ends the stream with Exception(Unsupported), because encoding it would block the
/// loop on the disk.
std::shared_ptr<const BodyStream> compress_stream(std::shared_ptr<const BodyStream> plain,
                                                  coding::Encoder encoder);

}  // namespace skua::middleware
