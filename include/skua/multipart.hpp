// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/form.hpp"
#include "skua/task.hpp"

namespace skua {

class Request;
namespace http {
class MultipartReader;
}

/// One part of multipart content, read as it arrives. Content that is not read is skipped.
///
/// Lifetime:  the part and its views are valid until the next `Multipart::next`; the Multipart
///            outlives the tasks. One task at a time.
class SKUA_API Part final {
 public:
  static constexpr std::uint64_t unlimited_bytes = std::numeric_limits<std::uint64_t>::max();

  /// Returns the name of the form field; empty if the content is not a form.
  [[nodiscard]] std::string_view name() const noexcept;
  /// Returns the file name that the peer sent, which must not be trusted; nullopt for a text field.
  [[nodiscard]] std::optional<std::string_view> filename() const noexcept;
  /// Returns filename() made safe for creating a file: its last component, without characters that
  /// are special to a file system. Empty if nothing is left.
  [[nodiscard]] std::string safe_filename() const;
  /// Returns the media type as sent; empty if it is missing.
  [[nodiscard]] std::string_view content_type() const noexcept;
  /// Returns the first field of the part's head with this name, ignoring case.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const noexcept;

  /// Reads the next piece of the content; nullopt at its end.
  ///
  /// Waits for: more content.
  /// Ends with: MalformedMultipart, TruncatedBody.
  /// Lifetime:  the bytes are valid until the next read.
  Task<Result<std::optional<Bytes>>> read();
  /// Reads the rest of the content as text.
  ///
  /// Waits for: the end of the part.
  /// Ends with: BodyTooLong past the limit; the errors of read().
  Task<Result<std::string>> text(std::size_t limit_bytes = 64_KiB);
  /// Writes the rest of the content to a file and returns the file's size. The file has a temporary
  /// name in the same folder until it is complete; then it replaces any file named `path`. After an
  /// error, or if the task is dropped, nothing is left of it.
  ///
  /// Waits for: the end of the part, and the disk, on another thread.
  /// Ends with: BodyTooLong past the limit; PermissionDenied, NotFound for the folder; Overloaded;
  ///            the errors of read(); PermissionDenied if the path ends with a filename() that has
  ///            a slash or a backslash: use safe_filename().
  Task<Result<std::uint64_t>> save(std::string path, std::uint64_t limit_bytes = unlimited_bytes);

 private:
  friend class Multipart;
  explicit Part(http::MultipartReader& reader) noexcept : reader_(&reader) {}
  http::MultipartReader* reader_;
};

/// Multipart content, read part by part in constant memory: `multipart/form-data`, `related`,
/// `mixed` or any other.
///
/// ```cpp
/// for (;;) {
///   auto part = co_await parts.next();
///   if (!part) co_return part.error();  // MalformedMultipart: 400, TooManyParts: 413
///   if (!*part) break;
///   auto text = co_await (*part)->text();
/// }
/// ```
/// Every part of a form must have a name; a form with a nameless part is malformed.
/// RFC:       2046 §5.1, 7578
class SKUA_API Multipart final {
 public:
  /// Returns the next piece of the content, valid until the next call; nullopt at its end.
  using Source = std::function<Task<std::optional<Bytes>>()>;

  /// Reads content with this Content-Type; next() fails if it is not multipart.
  Multipart(std::string_view content_type, Source source, const MultipartLimits& limits = {});
  Multipart(Multipart&&) noexcept;
  Multipart& operator=(Multipart&&) noexcept;
  ~Multipart();

  /// Skips the rest of the current part and reads the head of the next; nullopt after the last.
  ///
  /// Waits for: more content.
  /// Ends with: UnsupportedMediaType, MalformedMultipart, TooManyParts, PartHeadTooLong,
  ///            TruncatedBody; every later call returns the same error. UnsupportedCoding if the
  ///            request has a Content-Encoding.
  Task<Result<std::optional<Part>>> next();

 private:
  friend class Request;
  void refuse(Error why) noexcept;

  std::unique_ptr<http::MultipartReader> reader_;
};

}  // namespace skua
