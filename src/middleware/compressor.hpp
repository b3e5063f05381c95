// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "coding/coding.hpp"
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

}  // namespace skua::middleware
