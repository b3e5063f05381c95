// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "skua/config.hpp"
#include "skua/mistakes.hpp"
#include "skua/static_text.hpp"

namespace skua {

/// A range of an open file, which `owner` keeps open.
struct FileRange {
  std::shared_ptr<const void> owner{};  ///< the last reference closes the file
  int file = -1;                        ///< the file descriptor
  std::uint64_t offset = 0;             ///< of the first byte, in bytes
  std::uint64_t size_bytes = 0;         ///< from `offset` on
};

/// Text with shared ownership; the view is valid as long as `owner` is.
struct SharedText {
  std::shared_ptr<const void> owner{};
  std::string_view text{};
};

struct BodyStream;

/// The content of a response; its kind says who owns the bytes.
class SKUA_API Body final {
 public:
  enum class Kind : std::uint8_t {
    None,
    Inline,  ///< a short text, copied into the body itself
    Owned,   ///< a string of its own
    Static,  ///< a literal, or a prepared response that outlives the server
    Shared,  ///< kept alive by a shared owner
    File,    ///< a range of an open file
    Stream,  ///< produced while it is sent
  };
  /// Texts up to this size are copied without a heap allocation.
  static constexpr std::size_t inline_bytes = 56;

  Body() noexcept : kind_(Kind::None) {}
  Body(const char* text) : Body(std::string_view(text)) {}
  /// Copies the text.
  Body(std::string_view text);
  Body(std::string text) noexcept;
  Body(StaticText text) noexcept : Body(borrowed(text.text())) {}
  Body(std::shared_ptr<const std::string> text) noexcept;
  Body(SharedText text) noexcept;
  Body(FileRange range) noexcept;
  explicit Body(std::shared_ptr<const BodyStream> stream) noexcept;
  Body(std::nullptr_t) = delete;
  template <detail::Number T>
  Body(T) : Body() {
    static_assert(detail::never<T>, "content is text: write std::to_string(number)");
  }

  /// Refers to text of the caller's that outlives every response made of it.
  [[nodiscard]] static Body borrowed(std::string_view text) noexcept;

  Body(const Body& other);
  Body(Body&& other) noexcept;
  Body& operator=(const Body& other);
  Body& operator=(Body&& other) noexcept;
  ~Body() {
    if (kind_ >= Kind::Owned) destroy();
  }

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  /// 0 for a Stream.
  [[nodiscard]] std::uint64_t size_bytes() const noexcept;
  /// The bytes; empty for File and Stream, which have none in memory.
  [[nodiscard]] std::string_view text() const noexcept SKUA_LIFETIMEBOUND;
  /// The file range of Kind::File, otherwise null.
  [[nodiscard]] const FileRange* file() const noexcept SKUA_LIFETIMEBOUND {
    return kind_ == Kind::File ? &file_ : nullptr;
  }
  /// The producer of Kind::Stream, otherwise null.
  [[nodiscard]] const std::shared_ptr<const BodyStream>* stream() const noexcept
      SKUA_LIFETIMEBOUND {
    return kind_ == Kind::Stream ? &stream_ : nullptr;
  }
  /// The string of Kind::Owned, for a writer to move from; otherwise null.
  [[nodiscard]] std::string* owned() noexcept SKUA_LIFETIMEBOUND {
    return kind_ == Kind::Owned ? &owned_ : nullptr;
  }
  /// The text of Kind::Shared and its owner; otherwise null.
  [[nodiscard]] SharedText* shared() noexcept SKUA_LIFETIMEBOUND {
    return kind_ == Kind::Shared ? &shared_ : nullptr;
  }

 private:
  void destroy() noexcept;

  union {
    char inline_[inline_bytes];
    std::string owned_;
    std::string_view static_;
    SharedText shared_;
    FileRange file_;
    std::shared_ptr<const BodyStream> stream_;
  };
  Kind kind_;
  std::uint8_t inline_size_ = 0;
};

}  // namespace skua
