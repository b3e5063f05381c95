// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "net/stream.hpp"
#include "skua/error.hpp"
#include "tls/engine.hpp"

namespace skua::tls {

/// A source of plain bytes to send, read piece by piece.
class PlainSource {
 public:
  using Scratch = std::span<char, Engine::record_bytes>;

  [[nodiscard]] virtual std::size_t left_bytes() const noexcept = 0;
  /// Returns the next piece, of at most `max_bytes` and valid until the next call. `scratch` may
  /// hold it. It fills whole records if `max_bytes` allows it, unless it is the last one, or the
  /// next one does that without being copied.
  virtual Result<std::span<const char>> next(Scratch scratch, std::size_t max_bytes) = 0;

 protected:
  ~PlainSource() = default;
};

/// A source in memory; small slices are joined, large ones are not copied.
class SliceSource final : public PlainSource {
 public:
  explicit SliceSource(std::span<const net::Slice> slices) noexcept;

  [[nodiscard]] std::size_t left_bytes() const noexcept override { return left_bytes_; }
  Result<std::span<const char>> next(Scratch scratch, std::size_t max_bytes) override;

 private:
  std::span<const char> take(std::size_t count_bytes) noexcept;

  std::span<const net::Slice> slices_;
  std::size_t used_bytes_ = 0;  // bytes used of the first slice
  std::size_t left_bytes_ = 0;
};

/// A range of a file; if the file is shorter, next() ends with TruncatedBody.
class FileSource final : public PlainSource {
 public:
  FileSource(int file, std::uint64_t offset, std::size_t size_bytes) noexcept
      : offset_(offset), left_bytes_(size_bytes), file_(file) {}

  [[nodiscard]] std::size_t left_bytes() const noexcept override { return left_bytes_; }
  Result<std::span<const char>> next(Scratch scratch, std::size_t max_bytes) override;

 private:
  std::uint64_t offset_;
  std::size_t left_bytes_;
  int file_;
};

}  // namespace skua::tls
